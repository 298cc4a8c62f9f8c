import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { errorText } from '#shared/runtime/describe-error.ts';
import { libraryWith } from './client-library.ts';
import { type ClusterConnection, type Environment, tokenFromFile } from './connection.ts';
import { execCredentials } from './exec-credentials.ts';
import type { KubeconfigChoice } from './kubeconfig-choice.ts';
import type { AuthProvider, ExecPlugin, KubeconfigUser } from './kubeconfig-files.ts';

/** Of several credentials one counts: a token, a name with a password, a certificate, then a plugin. */
export async function credentialsOf(choice: KubeconfigChoice, env: Environment): Promise<Partial<ClusterConnection>> {
  const { user } = choice;
  expectKnownProvider(user);
  const certificate = certificateOf(user);
  const token = await tokenOf(user);
  const basicAuth = basicAuthOf(user);
  if (token !== undefined && basicAuth !== undefined)
    throw new Error('cannot use kubeconfig: tokenFile and username exclude each other');
  if (token !== undefined) return { ...certificate, token };
  const none = { ...certificate, token: () => Promise.resolve('') };
  if (basicAuth !== undefined) return { ...none, basicAuth };
  if (user.authProvider !== undefined) return { ...certificate, token: await providerToken(user.authProvider) };
  if (user.exec === undefined || certificate.clientCertificate !== undefined) return none;
  return pluginCredentials(user.exec, choice, env);
}

function basicAuthOf({ username, password }: KubeconfigUser): string | undefined {
  return username === undefined && password === undefined ? undefined : `${username ?? ''}:${password ?? ''}`;
}

function certificateOf(user: KubeconfigUser): Partial<ClusterConnection> {
  const { certificateData, certificateFile, keyData, keyFile } = user;
  const certificate = pem(certificateData, certificateFile);
  const key = pem(keyData, keyFile);
  if (certificate === undefined || key === undefined) return {};
  const files = certificateFile !== undefined && keyFile !== undefined ? { certificateFile, keyFile } : undefined;
  return { clientCertificate: certificate, clientKey: key, ...(files && { clientFiles: files }) };
}

function pem(data: string | undefined, file: string | undefined): string | undefined {
  if (data !== undefined) return fromBase64(data);
  return file === undefined ? undefined : readFileSync(file, 'utf8');
}

/** A token file is read again each minute; as long as it can be read, it counts more than the token. */
async function tokenOf({ token, tokenFile }: KubeconfigUser): Promise<ClusterConnection['token'] | undefined> {
  if (tokenFile === undefined) return token === undefined ? undefined : () => Promise.resolve(token);
  const fromFile = tokenFromFile(tokenFile);
  if (token !== undefined)
    return () =>
      fromFile().then(
        (read) => read || token,
        () => token,
      );
  try {
    if ((await fromFile()) === '') throw new Error('the file is empty');
  } catch (error) {
    throw new Error(`cannot read tokenFile "${tokenFile}": ${errorText(error)}`, { cause: error });
  }
  return fromFile;
}

async function pluginCredentials(
  plugin: ExecPlugin,
  { server, cluster }: KubeconfigChoice,
  env: Environment,
): Promise<Partial<ClusterConnection>> {
  const source = execCredentials(plugin, server, cluster, { env });
  const { certificate, key } = await source.current();
  const token = async () => (await source.current()).token ?? '';
  const onUnauthorized = () => source.reject();
  if (certificate === undefined || key === undefined) return { token, onUnauthorized };
  const clientIdentity = async () => {
    const latest = await source.current();
    return { cert: latest.certificate, key: latest.key };
  };
  return { token, onUnauthorized, clientCertificate: certificate, clientKey: key, clientIdentity };
}

/** Only oidc is left, even beside other credentials. */
function expectKnownProvider({ authProvider }: KubeconfigUser): void {
  const name = authProvider?.name ?? OIDC;
  if (name !== OIDC) throw new Error(`cannot use kubeconfig: no auth-provider "${name}"; use exec or ${OIDC}`);
}

const OIDC = 'oidc';

/** The client library renews the tokens. */
async function providerToken({ name, config }: AuthProvider): Promise<() => Promise<string>> {
  const authProvider = { name, config: Object.fromEntries(config) };
  const library = await libraryWith('https://localhost', { name: 'user', authProvider });
  return async () => {
    const options: RequestOptions = {};
    await library.applyToHTTPSOptions(options);
    const { headers } = options;
    const header = headers !== undefined && 'Authorization' in headers ? headers['Authorization'] : undefined;
    return typeof header === 'string' ? header.replace(/^Bearer /, '') : '';
  };
}

/** The text in a field such as `certificate-authority-data`. */
export function fromBase64(data: string): string {
  return Buffer.from(data, 'base64').toString('utf8');
}
