"""Every way in: pages, REST, websockets, worker, commands."""
