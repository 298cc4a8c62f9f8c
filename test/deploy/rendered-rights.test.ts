import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ALL_ACCOUNTS } from '#shared/kube/accounts/accounts.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';
import { at, textAt } from '#test/contract/harness.ts';

const OVERLAYS = 'deploy/overlays';
/** Its dashboards can only be built by kustomize; it has no roles of its own. */
const NOT_BUILT = 'monitoring';
const NAMES = readdirSync(OVERLAYS).filter((name) => name !== NOT_BUILT);
const FOLDERS = ['deploy/base', ...NAMES.map((name) => `${OVERLAYS}/${name}`)];
const rendered = new Map(FOLDERS.map((folder) => [folder, buildFolder(folder)] as const));

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** Roles that Kubernetes defines, each only for the account that runs a scheduler. */
const OF_KUBERNETES = ['system:kube-scheduler', 'system:volume-scheduler', 'extension-apiserver-authentication-reader'];
/** For people, bound to nobody by us. */
const OF_PEOPLE = ['plimsoll-viewer', 'plimsoll-cluster-viewer', 'plimsoll-editor', 'plimsoll-namespace-opt-out'];

/** One line for each verb on each resource. */
function lines(rules: readonly Rule[], namespace = '*'): readonly string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames = ['*'], nonResourceURLs = [], verbs }) =>
    verbs.flatMap((verb) => [
      ...nonResourceURLs.map((url) => `${verb} ${url}`),
      ...apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.map((name) => `${verb} ${resource}.${group} ${namespace}/${name}`),
        ),
      ),
    ]),
  );
}

/** What each subject is given in a folder, by `kind namespace/name`. */
function granted(folder: string): ReadonlyMap<string, readonly string[]> {
  const objects = rendered.get(folder) ?? [];
  const given = new Map<string, readonly string[]>();
  for (const binding of objects.filter(({ kind }) => kind === 'ClusterRoleBinding' || kind === 'RoleBinding')) {
    const within = at(binding, 'metadata.namespace') as string | undefined;
    const name = textAt(binding, 'roleRef.name');
    const role = objects.find(
      (each) => each.kind === textAt(binding, 'roleRef.kind') && at(each, 'metadata.name') === name,
    );
    const rights = role === undefined ? [`role ${name}`] : lines(at(role, 'rules') as readonly Rule[], within);
    for (const subject of at(binding, 'subjects') as readonly object[]) {
      const key = `${textAt(subject, 'kind')} ${String(at(subject, 'namespace'))}/${textAt(subject, 'name')}`;
      given.set(key, [...(given.get(key) ?? []), ...rights]);
    }
  }
  return given;
}

const listed: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  ALL_ACCOUNTS.map(({ namespace, name, rights, preempts }) => {
    const own = rights.flatMap(({ group, resources, verbs, ...only }) => {
      const { names, namespace: within } = only;
      return lines([{ apiGroups: [group], resources, verbs, ...(names && { resourceNames: names }) }], within);
    });
    const given = preempts === undefined ? own : [...own, ...OF_KUBERNETES.map((role) => `role ${role}`)];
    return [`ServiceAccount ${namespace}/${name}`, new Set(given)] as const;
  }),
);

describe.each(FOLDERS)('%s as it is installed', (folder) => {
  test('gives no account more than the list says, and nobody else anything', () => {
    const given = granted(folder);
    expect(given.size).toBeGreaterThan(0);
    const more = [...given].flatMap(([subject, rights]) =>
      rights.filter((right) => listed.get(subject)?.has(right) !== true).map((right) => `${subject}: ${right}`),
    );
    expect(more).toEqual([]);
  });

  test('has no role that others take rights from, but those for people', () => {
    const labelled = (rendered.get(folder) ?? []).filter(
      (each) =>
        each.kind === 'ClusterRole' && JSON.stringify(at(each, 'metadata.labels') ?? {}).includes('aggregate-to'),
    );
    expect(labelled.map((each) => textAt(each, 'metadata.name')).filter((name) => !OF_PEOPLE.includes(name))).toEqual(
      [],
    );
    const aggregating = (rendered.get(folder) ?? []).filter((each) => at(each, 'aggregationRule') !== undefined);
    expect(aggregating).toEqual([]);
  });
});

/** What nobody may do with a stolen token, whichever account it is of. */
const NEVER = [
  /^(delete|deletecollection) pods\./,
  /^\S+ (secrets)\.\S* \*\//,
  /^(impersonate|escalate|bind|approve|sign) /,
  /^\S+ \S*(pods\/exec|pods\/attach|pods\/portforward|nodes\/proxy|serviceaccounts\/token)/,
  /^(create|update|patch|delete) \S*(roles|rolebindings|clusterroles|clusterrolebindings)\./,
  /^(create|delete) \S*webhookconfigurations\./,
  /\*[ .]|\.\*/,
  /^(create|update|patch) pods\/ephemeralcontainers/,
  /^(create|update) pods\./,
];

test.each([...listed])(
  'a stolen token of %s deletes no pod, reads no foreign Secret and gives itself nothing',
  (_, rights) => {
    const found = [...rights].filter((right) => NEVER.some((never) => never.test(right.replace(/ \*\/\*$/, ' */all'))));
    expect(found).toEqual([]);
  },
);
