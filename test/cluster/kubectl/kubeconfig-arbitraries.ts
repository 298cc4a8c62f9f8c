import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type { RecordingServers } from './recording-servers.ts';

/** One situation of a person at a terminal: files, variables and flags. */
export interface Situation {
  /** By path, relative to the folder of the situation. */
  readonly files: Readonly<Record<string, object>>;
  readonly kubeconfig: string | undefined;
  readonly flags: Readonly<
    Record<'kubeconfig' | 'context' | 'server' | 'token' | 'as' | 'user' | 'cluster', string | undefined>
  >;
}

const FILES: readonly string[] = ['one/config', 'two/config', 'config'];
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The files that kubeconfigs name, relative to the folder of each. */
const BESIDE: readonly [string, (servers: RecordingServers, folder: string) => string][] = [
  ['ca.crt', ({ ca }) => ca],
  ['token', (_, folder) => `token-of-${folder}\n`],
  ['empty', () => ''],
  ['client.crt', ({ clients }) => clients['jane']?.cert ?? ''],
  ['client.key', ({ clients }) => clients['jane']?.key ?? ''],
  ['plugin.sh', (_, folder) => pluginPrinting({ token: `plugin-of-${folder}` })],
  [
    'certificate.sh',
    ({ clients: { robot } }) => pluginPrinting({ clientCertificateData: robot?.cert, clientKeyData: robot?.key }),
  ],
  ['failing.sh', () => '#!/bin/sh\necho no >&2\nexit 3\n'],
];

function pluginPrinting(status: object): string {
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status };
  return `#!/bin/sh\ncat <<'END'\n${JSON.stringify(credential)}\nEND\n`;
}

/** Writes the files of a situation, and what they name, into a folder. */
export function writeSituation(folder: string, { files }: Situation, servers: RecordingServers): void {
  for (const place of FILES.map(dirname)) {
    mkdirSync(join(folder, place), { recursive: true });
    for (const [name, content] of BESIDE) {
      writeFileSync(join(folder, place, name), content(servers, place === '.' ? 'here' : place));
      if (name.endsWith('.sh')) chmodSync(join(folder, place, name), 0o755);
    }
  }
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), JSON.stringify(content));
  writeFileSync(join(folder, 'nothing'), '');
}

/** Usually the most likely value, so that most situations work. */
function mostly<T>(usual: fc.Arbitrary<T>, others: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 5, arbitrary: usual }, { weight: 1, arbitrary: others });
}

/** Usually nothing. */
const maybe = <T>(value: fc.Arbitrary<T>, weight = 4) =>
  fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

function clusters({ https, http, proxy, ca, otherCa }: RecordingServers): fc.Arbitrary<object> {
  const secure = fc.constantFrom(
    `https://127.0.0.1:${https}`,
    `https://localhost:${https}/`,
    `https://127.0.0.1:${https}/prefix`,
  );
  const strange = fc.constantFrom(
    `https://127.0.0.1:${https}/p/?q=1`,
    `127.0.0.1:${https}`,
    `localhost:${https}`,
    '',
    'ftp://x',
  );
  const plain = fc.constantFrom(`http://127.0.0.1:${http}`, `http://127.0.0.1:${http}/prefix/`, `127.0.0.1:${http}`);
  const trust = mostly(
    fc.constantFrom<object>(
      { 'certificate-authority-data': base64(ca) },
      { 'certificate-authority': 'ca.crt' },
      { 'insecure-skip-tls-verify': true },
    ),
    fc.constantFrom<object>(
      {},
      { 'certificate-authority-data': base64(otherCa) },
      { 'certificate-authority': 'none.crt' },
      { 'certificate-authority': 'ca.crt', 'certificate-authority-data': base64(ca) },
      { 'certificate-authority': 'ca.crt', 'insecure-skip-tls-verify': true },
    ),
  );
  const more = fc.record({
    'tls-server-name': maybe(fc.constantFrom('api.test', 'localhost', 'other.test'), 4),
    'proxy-url': maybe(fc.constantFrom(`http://127.0.0.1:${proxy}`, ''), 4),
  });
  const overHttps = fc
    .tuple(mostly(secure, strange), trust, more)
    .map(([server, ...rest]) => Object.assign({ server }, ...rest) as object);
  const overHttp = fc.tuple(plain, more).map(([server, rest]) => ({ server, ...rest }));
  return fc.oneof({ weight: 3, arbitrary: overHttps }, overHttp);
}

function users({ clients: { jane, robot } }: RecordingServers): fc.Arbitrary<object> {
  const version = 'client.authentication.k8s.io/v1';
  const plugin = (command: string, more: object = {}) => ({
    exec: { apiVersion: version, command, interactiveMode: 'Never', ...more },
  });
  const credentials = fc.constantFrom<object>(
    {},
    { token: 'secret' },
    { tokenFile: 'token' },
    { token: 'secret', tokenFile: 'token' },
    { token: 'secret', tokenFile: 'none' },
    { tokenFile: 'none' },
    { tokenFile: 'empty' },
    { username: 'u', password: 'p' },
    { username: 'u' },
    { token: 't', username: 'u' },
    { tokenFile: 'token', username: 'u', password: 'p' },
    { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
    { 'client-certificate-data': base64(robot?.cert ?? ''), 'client-key-data': base64(robot?.key ?? '') },
    { 'client-certificate-data': base64(jane?.cert ?? ''), 'client-key': 'client.key', token: 'secret' },
    { 'client-certificate': 'client.crt' },
    { 'client-certificate': 'none.crt', 'client-key': 'client.key' },
    {
      'client-certificate': 'client.crt',
      'client-certificate-data': base64(jane?.cert ?? ''),
      'client-key': 'client.key',
    },
    plugin('./plugin.sh'),
    plugin('./plugin.sh'),
    plugin('./certificate.sh'),
    plugin('plugin.sh'),
    plugin('../config.sh'),
    plugin('sh', {
      args: [
        '-c',
        'echo "{\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"$T\\"}}"',
      ],
      env: [{ name: 'T', value: 'of-env' }],
    }),
    plugin('./failing.sh'),
    plugin('./plugin.sh', { interactiveMode: undefined }),
    plugin('./plugin.sh', { apiVersion: 'client.authentication.k8s.io/v1beta1' }),
    plugin(''),
    plugin('./plugin.sh', { apiVersion: 'client.authentication.k8s.io/v1alpha1' }),
    plugin('./plugin.sh', { interactiveMode: 'IfAvailable' }),
    { ...plugin('./plugin.sh'), token: 'secret' },
    { ...plugin('./plugin.sh'), username: 'u', password: 'p' },
    { ...plugin('./plugin.sh'), tokenFile: 'token' },
    { ...plugin('./plugin.sh'), 'client-certificate': 'client.crt', 'client-key': 'client.key' },
    { 'auth-provider': { name: 'gcp' } },
  );
  const impersonation = mostly(
    fc.constant({}),
    fc.constantFrom<object>(
      { as: 'jane' },
      {
        as: 'jane',
        'as-uid': 'u-17',
        'as-groups': ['b', 'a'],
        'as-user-extra': { reason: ['audit', 'x'], 'a/b%': ['1'], Upper: ['2'] },
      },
      { 'as-groups': ['a'] },
      { 'as-uid': 'u' },
      { as: 'jane', 'as-groups': [] },
    ),
  );
  return fc.tuple(credentials, impersonation).map(([one, other]) => ({ ...one, ...other }));
}

/** Names are few, so that files repeat them. */
const NAMES = ['a', 'b', 'c'];

function files(servers: RecordingServers): fc.Arbitrary<object> {
  const named = (field: string, values: fc.Arbitrary<object>, minLength: number) =>
    fc
      .uniqueArray(fc.record({ name: fc.constantFrom(...NAMES), value: values }), {
        selector: ({ name }) => name,
        minLength,
        maxLength: 3,
      })
      .map((entries) => entries.map(({ name, value }) => ({ name, [field]: value })));
  const name = mostly(fc.constantFrom(...NAMES), fc.constantFrom('', 'none'));
  const context = fc.record({
    cluster: fc.constantFrom(...NAMES),
    user: mostly(fc.constantFrom(...NAMES), fc.constant('')),
    namespace: maybe(fc.constantFrom('team-a', 'team-b', ''), 1),
  });
  return fc.record({
    apiVersion: fc.constant('v1'),
    kind: fc.constant('Config'),
    'current-context': mostly(name, fc.constant(undefined)),
    clusters: named('cluster', clusters(servers), 3),
    users: named('user', users(servers), 3),
    contexts: named('context', context, 3),
  });
}

/** Situations with these servers. */
export function situations(servers: RecordingServers): fc.Arbitrary<Situation> {
  const lists = fc.uniqueArray(fc.constantFrom(...FILES, 'missing', 'nothing'), { minLength: 1, maxLength: 4 });
  const flags = fc.record({
    kubeconfig: maybe(fc.constantFrom(...FILES, 'missing'), 6),
    context: maybe(mostly(fc.constantFrom(...NAMES), fc.constant('none')), 1),
    server: maybe(fc.constant(`https://127.0.0.1:${servers.https}/flag`), 12),
    token: maybe(fc.constant('of-flag'), 12),
    as: maybe(fc.constant('joe'), 12),
    user: maybe(fc.constantFrom(...NAMES), 12),
    cluster: maybe(fc.constantFrom(...NAMES), 12),
  });
  const file = files(servers);
  return fc.record({
    files: fc.record(Object.fromEntries(FILES.map((path) => [path, file]))),
    kubeconfig: lists.map((paths) => paths.join(':')),
    flags,
  });
}
