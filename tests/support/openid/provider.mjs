// A certified OpenID provider for tests: it registers clients, and signs in whoever says a name.
// It writes its issuer, and ends when its input does.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const account = (_context, id) => ({
  accountId: id,
  claims: () => ({
    sub: id,
    name: `${id[0].toUpperCase()}${id.slice(1)}`,
    email: `${id}@mail.example`,
    email_verified: true,
  }),
});

const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"] },
    features: { registration: { enabled: true } },
    findAccount: account,
    pkce: { required: () => true },
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
process.stdin.on("end", () => process.exit()).resume();
