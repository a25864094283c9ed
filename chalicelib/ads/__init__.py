"""An ad network: campaigns, the zones derived from them, and the choice of an ad."""
