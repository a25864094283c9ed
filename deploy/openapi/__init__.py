"""The API's document: made from the routes, kept with the contract, shipped compact."""
