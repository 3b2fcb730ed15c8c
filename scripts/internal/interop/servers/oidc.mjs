// oidc-provider, a real authorization server, and a JSON-RPC endpoint that it protects:
//
//     node oidc.mjs REGISTRATION KEY
//
// REGISTRATION is yes or no. KEY is the file with the private key of the client ci-key. The program prints {"at","issuer"}. Every user
// is ann and consents. The endpoint's methods are whoami, which returns the token's user, client and scope, and write, which
// requires the scope write.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Provider from 'oidc-provider';

const [registration, keyFile] = process.argv.slice(2);

const listen = async (handle) => {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${server.address().port}`;
};

let provider, at;
const issuer = await listen((req, res) => answer(req, res));
const jwk = createPublicKey(readFileSync(keyFile)).export({ format: 'jwk' });
const client = (client_id, more) => ({ client_id, redirect_uris: [], response_types: [], ...more });
provider = new Provider(issuer, {
  clients: [
    client('laptop', {
      application_type: 'native', token_endpoint_auth_method: 'none', redirect_uris: ['http://127.0.0.1/callback'], response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
    }),
    client('tv', { token_endpoint_auth_method: 'none', grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'] }),
    client('ci-basic', { client_secret: 'a:secret/of+ci%', token_endpoint_auth_method: 'client_secret_basic', grant_types: ['client_credentials'] }),
    client('ci-post', { client_secret: 'secret-of-post', token_endpoint_auth_method: 'client_secret_post', grant_types: ['client_credentials'] }),
    client('ci-key', {
      token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'ES256', grant_types: ['client_credentials'], jwks: { keys: [jwk] },
    }),
  ],
  scopes: ['openid', 'offline_access', 'read', 'write'],
  ttl: { AccessToken: 20, ClientCredentials: 20 },
  pkce: { required: () => true },
  issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    registration: { enabled: registration === 'yes' },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({ scope: 'read write', audience: resource, accessTokenFormat: 'opaque' }),
      useGrantedResource: () => true,
    },
  },
  interactions: { url: (_, interaction) => `/agree/${interaction.uid}` },
  findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  cookies: { keys: ['a key of tests'] },
});
provider.on('server_error', (_, err) => console.error(err));
const handle = provider.callback();

async function answer(req, res) {
  if (!req.url.startsWith('/agree/')) return handle(req, res);
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
  if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId: 'ann' } });
  const grant = grantId ? await provider.Grant.find(grantId) : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope(params.scope ?? '');
  grant.addResourceScope(at, params.scope ?? '');
  return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

const endpoint = await listen(async (req, res) => {
  const send = (status, body, headers = {}) => res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  const metadata = `${new URL(at).origin}/.well-known/oauth-protected-resource/rpc`;
  if (req.url === '/.well-known/oauth-protected-resource/rpc') {
    return send(200, { resource: at, authorization_servers: [issuer], scopes_supported: ['read'] });
  }
  let text = '';
  for await (const piece of req) text += piece;
  const { id, method } = JSON.parse(text || '{}');
  const value = req.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const token = (await provider.AccessToken.find(value)) ?? (await provider.ClientCredentials.find(value));
  const challenge = (more) => ({ 'WWW-Authenticate': `Bearer ${more}resource_metadata="${metadata}"` });
  if (!token || token.isExpired || token.aud !== at) return send(401, {}, challenge(''));
  if (method === 'write' && !token.scope.split(' ').includes('write')) return send(403, {}, challenge('error="insufficient_scope", scope="write", '));
  return send(200, { jsonrpc: '2.0', id, result: { user: token.accountId ?? null, client: token.clientId, scope: token.scope } });
});
at = `${endpoint}/rpc`;
console.log(JSON.stringify({ at, issuer }));
