import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { type Account, accountClient } from '#test/cluster/support/accounts.ts';
import type { OwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import { type Attempt, mayDo, placeOf } from './attempt.ts';
import { discover, type Thing } from './discover.ts';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;
/** Verbs that are no requests, with what they are about. */
const POWERS: readonly (readonly [verb: string, group: string, resource: string])[] = [
  ['impersonate', '', 'users'],
  ['impersonate', '', 'groups'],
  ['impersonate', '', 'serviceaccounts'],
  ['impersonate', 'authentication.k8s.io', 'uids'],
  ['escalate', 'rbac.authorization.k8s.io', 'clusterroles'],
  ['escalate', 'rbac.authorization.k8s.io', 'roles'],
  ['bind', 'rbac.authorization.k8s.io', 'clusterroles'],
  ['bind', 'rbac.authorization.k8s.io', 'roles'],
  ['approve', 'certificates.k8s.io', 'signers'],
  ['sign', 'certificates.k8s.io', 'signers'],
];
const AT_ONCE = 16;

/** Nothing is bound to it: what it may do, a version of Kubernetes gives to every account. */
const PLAIN: Account = { namespace: 'default', name: 'default' };

/**
 * Asks the API server, as the account, about every verb on every resource that it serves: in all namespaces, in each of
 * `namespaces`, and for each name that a rule gives. One line per resource with what is allowed there, and not to every
 * account.
 */
export async function rightsOf(
  own: Pick<OwnCluster, 'admin' | 'connection'>,
  account: Account,
  namespaces: readonly string[],
): Promise<string> {
  const [client, plain] = await Promise.all([accountClient(own, account), accountClient(own, PLAIN)]);
  const allowed = await allowedOf(client, await attemptsOf(client, namespaces));
  const common = new Set(await allowedOf(plain, allowed));
  for (const each of [client, plain]) each.close();
  return printed(allowed.filter((attempt) => !common.has(attempt)));
}

async function attemptsOf(client: KubeClient, namespaces: readonly string[]): Promise<readonly Attempt[]> {
  const things = await discover(client);
  const anyName = ['', ...namespaces].flatMap((namespace) => attemptsIn(things, namespace, ''));
  const names = await Promise.all(namespaces.map((namespace) => namesInRules(client, namespace)));
  const byName = namespaces.flatMap((namespace) =>
    [...new Set(names.flat())].flatMap((name) => attemptsIn(things, namespace, name)),
  );
  const powers = POWERS.map(([verb, group, resource]) => ({ ...NOWHERE, verb, group, resource }));
  return [...anyName, ...byName, ...powers];
}

const NOWHERE = { subresource: '', namespace: '', name: '' } as const;

/** A name on a namespaced object needs its namespace; what is allowed everywhere is not asked about again. */
function attemptsIn(things: readonly Thing[], namespace: string, name: string): readonly Attempt[] {
  return things.flatMap(({ isNamespaced, ...thing }) =>
    namespace !== '' && !isNamespaced && name === ''
      ? []
      : VERBS.map((verb) => ({ ...thing, verb, name, namespace: isNamespaced ? namespace : '' })),
  );
}

async function allowedOf(client: KubeClient, attempts: readonly Attempt[]): Promise<readonly Attempt[]> {
  const unique = [...new Map(attempts.map((attempt) => [JSON.stringify(attempt), attempt])).values()];
  const answers = await inFlight(AT_ONCE, unique, (attempt) => mayDo(client, attempt));
  const found = unique.filter((_, index) => answers[index]);
  const wider = new Set(found.map(keyOf));
  return found.filter((attempt) => !widerThan(attempt).some((wide) => wider.has(keyOf(wide))));
}

function widerThan(attempt: Attempt): readonly Attempt[] {
  const { namespace, name } = attempt;
  const wider = [
    { ...attempt, name: '' },
    { ...attempt, namespace: '', name: '' },
  ];
  return wider.filter((each) => each.namespace !== namespace || each.name !== name);
}

function keyOf({ verb, group, resource, subresource, namespace, name }: Attempt): string {
  return [verb, group, resource, subresource, namespace, name].join(' ');
}

function printed(attempts: readonly Attempt[]): string {
  const lines = new Map<string, string[]>();
  for (const attempt of attempts) {
    const line = placeOf(attempt);
    lines.set(line, [...(lines.get(line) ?? []), attempt.verb]);
  }
  const texts = [...lines].map(([line, verbs]) => `${line}: ${verbs.join(' ')}\n`);
  return texts.toSorted().join('');
}

async function namesInRules(client: KubeClient, namespace: string): Promise<readonly string[]> {
  const outcome = await client.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    body: { spec: { namespace } },
  });
  if (outcome.kind !== 'ok') throw new Error(`cannot ask for rules: ${outcome.message}`);
  const rules = fieldOf(fieldOf(outcome.object, 'status'), 'resourceRules') as readonly { resourceNames?: string[] }[];
  return rules.flatMap(({ resourceNames = [] }) => resourceNames);
}
