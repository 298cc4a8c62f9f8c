import type { KubeClient } from '#shared/kube/client.ts';
import { fieldOf } from '#shared/kube/field-of.ts';

/** What somebody may want to do; empty strings for the core group, the object itself, any name, all namespaces. */
export interface Attempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

type Thing = Pick<Attempt, 'group' | 'resource' | 'subresource'> & { readonly isNamespaced: boolean };

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
/** What kubelets check and no API server lists. */
const KUBELET_SUBRESOURCES = ['stats', 'metrics', 'log', 'spec', 'checkpoint', 'configz', 'healthz', 'pods'];
const AT_ONCE = 16;

/**
 * Asks the API server, as whom it is asked by, about every verb on every resource that it serves: in all namespaces, in
 * each of `namespaces`, and for each name that a rule gives. One line per resource with what is allowed there.
 */
export async function rightsOf(client: KubeClient, namespaces: readonly string[]): Promise<string> {
  const things = await discover(client);
  const anyName = ['', ...namespaces].flatMap((namespace) => attemptsIn(things, namespace, ''));
  const names = await Promise.all(namespaces.map((namespace) => namesInRules(client, namespace)));
  const byName = namespaces.flatMap((namespace) =>
    [...new Set(names.flat())].flatMap((name) => attemptsIn(things, namespace, name)),
  );
  const powers = POWERS.map(([verb, group, resource]) => ({ ...NOWHERE, verb, group, resource }));
  return printed(await allowedOf(client, [...anyName, ...byName, ...powers]));
}

const NOWHERE = { subresource: '', namespace: '', name: '' } as const;

/** Whether the API server would let whom it is asked by do this. */
export async function mayDo(client: KubeClient, attempt: Attempt): Promise<boolean> {
  const outcome = await client.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: { spec: { resourceAttributes: attempt } },
  });
  if (outcome.kind !== 'ok') throw new Error(`cannot ask for rights: ${outcome.message}`);
  return fieldOf(fieldOf(outcome.object, 'status'), 'allowed') === true;
}

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
  const allowed = new Set<Attempt>();
  const left = unique.values();
  const ask = async (): Promise<void> => {
    for (const attempt of left) if (await mayDo(client, attempt)) allowed.add(attempt);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  const found = unique.filter((attempt) => allowed.has(attempt));
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

function placeOf({ group, resource, subresource, namespace, name }: Attempt): string {
  const qualified = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
  const named = name === '' ? '' : ` "${name}"`;
  return `${qualified}${named}${namespace === '' ? '' : ` in ${namespace}`}`;
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

/** Every resource and subresource of every version that is served, each group once per resource. */
async function discover(client: KubeClient): Promise<readonly Thing[]> {
  const groups = (await read(client, '/apis'))['groups'] as readonly {
    name: string;
    versions: { version: string }[];
  }[];
  const versions = groups.flatMap(({ name, versions }) =>
    versions.map(({ version }) => ({ group: name, path: `/apis/${name}/${version}` })),
  );
  const lists = [{ group: '', path: '/api/v1' }, ...versions].map(async ({ group, path }) => {
    const resources = (await read(client, path))['resources'] as readonly { name: string; namespaced: boolean }[];
    return resources.map(({ name, namespaced }) => thingOf(group, name, namespaced));
  });
  const ofKubelets = KUBELET_SUBRESOURCES.map((name) => thingOf('', `nodes/${name}`, false));
  const all = [...ofKubelets, ...(await Promise.all(lists)).flat()];
  return [...new Map(all.map((thing) => [JSON.stringify(thing), thing])).values()];
}

function thingOf(group: string, name: string, isNamespaced: boolean): Thing {
  const [resource = '', subresource = ''] = name.split('/');
  return { group, resource, subresource, isNamespaced };
}

async function read(client: KubeClient, path: string): Promise<Readonly<Record<string, unknown>>> {
  const outcome = await client.request({ path });
  if (outcome.kind !== 'ok') throw new Error(`cannot read ${path}: ${outcome.message}`);
  return outcome.object as Readonly<Record<string, unknown>>;
}
