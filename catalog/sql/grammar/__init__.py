"""Statement grammars, one file per noun; `dispatch` chooses by the first words."""
