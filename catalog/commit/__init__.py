"""One atomic commit: how operations become rows. Only `transaction` opens one."""
