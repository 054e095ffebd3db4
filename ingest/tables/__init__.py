"""Tables: base, tail, reads at a time, folding, plain tables."""
