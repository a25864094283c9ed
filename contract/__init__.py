"""What the API's document promises: held to a running server, and made into clients."""
