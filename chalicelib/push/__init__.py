"""Web push: one encrypted message to a browser, by the service of its maker.

RFC 8030 has the protocol, RFC 8291 the encryption and RFC 8292 the sender's signature. This room
knows nothing of notifications.

Public face: `browsers`, `errors`, `sending`.
"""
