"""PostgreSQL's protocol (version 3), so that psql and every PostgreSQL driver is a client.

messages         bytes to messages and back
failures         errors and notices as messages
startup          the first packets: TLS, cancel requests, the client's parameters
authentication   an e-mail and an app-specific password
parameters       a client's parameter values, text or binary, as text
binary           single values in PostgreSQL's binary form
values           results as row messages
descriptions     what a statement gives, as row descriptions
session_thread   the thread that a client's session lives in
conversation     one client's statements, simple and extended
server           accepting, limits, cancelling, stopping
"""
