"""Web push: encrypted messages to a browser, through the push service of the browser's maker.

RFC 8030 defines the protocol, RFC 8291 the encryption and RFC 8292 the sender's signature. This
package knows nothing of notifications.

Public face: `browsers`, `errors`, `sending`.
"""
