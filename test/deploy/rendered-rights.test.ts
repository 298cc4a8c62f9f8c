import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ACCOUNTS, ALL_ACCOUNTS, CONTROLLER_PARTS, type ControllerPartRights } from '#shared/kube/accounts/accounts.ts';
import { PART_RIGHTS, type Right, RIGHTS } from '#shared/kube/accounts/rights.ts';
import type { Manifest } from '#tools/manifests/manifest.ts';
import { readKustomization } from '#tools/manifests/kustomize/kustomization.ts';
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

/** What each subject is given, by `kind namespace/name`. */
function granted(objects: readonly Manifest[]): ReadonlyMap<string, readonly string[]> {
  const given = new Map<string, readonly string[]>();
  for (const binding of objects.filter(({ kind }) => kind === 'ClusterRoleBinding' || kind === 'RoleBinding')) {
    const within = at(binding, 'metadata.namespace') as string | undefined;
    const name = textAt(binding, 'roleRef.name');
    const role = objects.find(
      (each) =>
        each.kind === textAt(binding, 'roleRef.kind') &&
        at(each, 'metadata.name') === name &&
        at(each, 'metadata.namespace') === within,
    );
    const rights = role === undefined ? [`role ${name}`] : lines(at(role, 'rules') as readonly Rule[], within);
    for (const subject of at(binding, 'subjects') as readonly object[]) {
      const key = `${textAt(subject, 'kind')} ${String(at(subject, 'namespace'))}/${textAt(subject, 'name')}`;
      given.set(key, [...(given.get(key) ?? []), ...rights]);
    }
  }
  return given;
}

function linesOf(rights: readonly Right[]): readonly string[] {
  return rights.flatMap(({ group, resources, verbs, names, namespace }) =>
    lines([{ apiGroups: [group], resources, verbs, ...(names && { resourceNames: names }) }], namespace),
  );
}

const listed: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  ALL_ACCOUNTS.map(({ namespace, name, rights, preempts }) => {
    const own = linesOf(rights);
    const given = preempts === undefined ? own : [...own, ...OF_KUBERNETES.map((role) => `role ${role}`)];
    return [`ServiceAccount ${namespace}/${name}`, new Set(given)] as const;
  }),
);

describe.each(FOLDERS)('%s as it is installed', (folder) => {
  test('gives no account more than the list says, and nobody else anything', () => {
    const given = granted(rendered.get(folder) ?? []);
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

/** All parts off and on, in every combination. */
const COMBINATIONS = Array.from({ length: 2 ** CONTROLLER_PARTS.length }, (_, bits) =>
  CONTROLLER_PARTS.filter((__, index) => (bits >> index) % 2 === 1),
);
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-parts-'));
afterAll(() => rmSync(folder, { recursive: true }));
const read: Parameters<typeof buildFolder>[1] = new Map();

function buildWith(components: readonly string[]): readonly Manifest[] {
  const paths = components.map((each) => relative(folder, resolve('deploy', each)));
  const kustomization = { resources: [relative(folder, resolve('deploy/base'))], components: paths };
  const head = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify({ ...head, ...kustomization }));
  return buildFolder(folder, read);
}

const OF_BASE = new Set(buildWith([]).map(nameOf));

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

/** The objects that a component brings itself. */
function broughtBy(component: string): readonly string[] {
  const { resources } = readKustomization(`deploy/${component}`);
  return resources.flatMap((file) => {
    const texts = readFileSync(`deploy/${component}/${file}`, 'utf8');
    return parseAllDocuments(texts).map((each) => nameOf(each.toJS() as Manifest));
  });
}

describe.each(COMBINATIONS.map((parts) => [parts.map(({ name }) => name).join(', ') || 'no part', parts] as const))(
  'the controller with %s',
  (_, parts) => {
    const objects = buildWith([ACCOUNTS.controller.folder, ...parts.map((part) => part.folder)]);
    const { namespace, name } = ACCOUNTS.controller;

    test('has the rights of these parts and no others', () => {
      const rights = [...RIGHTS.controller, ...parts.flatMap((part): readonly Right[] => PART_RIGHTS[part.name])];
      const given = granted(objects).get(`ServiceAccount ${namespace}/${name}`) ?? [];
      expect([...new Set(given)].sort()).toEqual([...new Set(linesOf(rights))].sort());
    });

    test('turns these parts on and no others', () => {
      const deployment = objects.find((each) => nameOf(each) === `Deployment ${namespace}/${name}`);
      const variables = at(deployment, 'spec.template.spec.containers.0.env') as readonly Variable[];
      const isOn = ({ variable }: ControllerPartRights): boolean =>
        !['', 'Off'].includes(variables.find((each) => each.name === variable)?.value ?? '');
      expect(CONTROLLER_PARTS.filter(isOn)).toEqual(parts);
      // What is off is said, so that no default of the program turns it on; without a port there is no dashboard.
      const said = CONTROLLER_PARTS.filter((part) => part.name !== 'dashboard' || parts.includes(part));
      const all = [...said.map((part) => part.variable), 'PLIMSOLL_EXTENDER'];
      expect(variables.map((each) => each.name).sort()).toEqual(all.sort());
    });

    test('brings the policies, guards and network policies of these parts and no others', () => {
      const brought = objects.map(nameOf).filter((each) => !OF_BASE.has(each));
      const expected = [ACCOUNTS.controller.folder, ...parts.map((part) => part.folder)].flatMap(broughtBy);
      expect(brought.sort()).toEqual(expected.sort());
    });
  },
);

interface Variable {
  readonly name: string;
  readonly value: string;
}

test('a part without the controller is refused, and so no gate is added that nothing would remove', () => {
  for (const part of CONTROLLER_PARTS) expect(() => buildWith([part.folder])).toThrow('no object matches');
});
