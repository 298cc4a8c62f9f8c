import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ALL_ACCOUNTS, type OwnAccount } from '#shared/kube/accounts/accounts.ts';
import type { Right } from '#shared/kube/accounts/rights.ts';
import { at, textAt } from '#test/contract/harness.ts';

const DEPLOY = 'deploy/';
const files = readdirSync(DEPLOY, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /^(base|components|overlays)\/.*\.yaml$/.test(file),
);
const objects = files.flatMap((file) =>
  parseAllDocuments(readFileSync(DEPLOY + file, 'utf8')).map((document) => ({
    file,
    object: document.toJS() as object,
  })),
);

function ofKind(...kinds: readonly string[]): typeof objects {
  return objects.filter(({ object }) => kinds.includes(String(at(object, 'kind'))));
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** One line for each verb on each resource, in the order of the alphabet. */
function lines(rights: readonly Right[]): readonly string[] {
  const all = rights.flatMap(({ group, resources, verbs, names = ['*'], namespace = '*' }) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => names.map((name) => `${verb} ${resource}.${group} ${namespace}/${name}`)),
    ),
  );
  return [...new Set(all)].sort();
}

/** What the roles in deploy/ give an account. */
function grantedTo({ namespace, name }: OwnAccount): readonly Right[] {
  const bindings = ofKind('ClusterRoleBinding', 'RoleBinding').filter(({ object }) =>
    (at(object, 'subjects') as readonly object[]).some(
      (subject) => at(subject, 'name') === name && at(subject, 'namespace') === namespace,
    ),
  );
  return bindings.flatMap(({ object: binding }) => {
    const within = at(binding, 'metadata.namespace') as string | undefined;
    const role = ofKind(textAt(binding, 'roleRef.kind')).find(
      ({ object }) =>
        at(object, 'metadata.name') === at(binding, 'roleRef.name') && at(object, 'metadata.namespace') === within,
    );
    return role === undefined ? [] : rightsOf(at(role.object, 'rules') as readonly Rule[], within);
  });
}

function rightsOf(rules: readonly Rule[], namespace: string | undefined): readonly Right[] {
  return rules.flatMap(({ apiGroups, resources, resourceNames: names, verbs }) =>
    apiGroups.map((group) => ({
      group,
      resources,
      verbs,
      ...(names !== undefined && { names }),
      ...(namespace !== undefined && { namespace }),
    })),
  );
}

describe('the list of accounts', () => {
  test('has every service account that deploy/ creates, where it creates it', () => {
    const created = ofKind('ServiceAccount').map(({ file, object }) => [
      file.slice(0, file.lastIndexOf('/')),
      `${textAt(object, 'metadata.namespace')}/${textAt(object, 'metadata.name')}`,
    ]);
    const listed = ALL_ACCOUNTS.map(({ folder, namespace, name }) => [folder, `${namespace}/${name}`]);
    expect(created.sort()).toEqual(listed.sort());
  });

  test.each(ALL_ACCOUNTS.map((account) => [account.name, account] as const))('has the rights of %s', (_, account) => {
    expect(lines(account.rights)).toEqual(lines(grantedTo(account)));
  });

  test('every pod runs with one of them', () => {
    const used = objects.flatMap(({ object }) => {
      const name = at(object, 'spec.template.spec.serviceAccountName');
      return typeof name === 'string' ? [`${textAt(object, 'metadata.namespace')}/${name}`] : [];
    });
    expect(new Set(used)).toEqual(new Set(ALL_ACCOUNTS.map(({ namespace, name }) => `${namespace}/${name}`)));
  });

  const may = ({ rights }: OwnAccount, resource: string, ...verbs: readonly string[]): boolean =>
    rights.some((right) => right.resources.includes(resource) && verbs.some((verb) => right.verbs.includes(verb)));

  test('a Lease that a process of ours holds may be watched by the replicas that wait for it', () => {
    const held = ALL_ACCOUNTS.flatMap(({ rights }) => rights).filter(
      ({ resources, verbs }) => resources.includes('leases') && verbs.includes('patch'),
    );
    expect(held.filter(({ verbs }) => !verbs.includes('list') || !verbs.includes('watch'))).toEqual([]);
    expect(held.length).toBeGreaterThan(5);
  });

  test('an account that may create Events, evict pods or change NodePressures has a limit for it, and no other', () => {
    for (const account of ALL_ACCOUNTS) {
      const { name, reportsAs, evicts, pressureField } = account;
      expect([name, reportsAs !== undefined]).toEqual([name, may(account, 'events', 'create')]);
      expect([name, evicts !== undefined]).toEqual([name, may(account, 'pods/eviction', 'create')]);
      expect([name, pressureField !== undefined]).toEqual([name, may(account, 'nodepressures', 'patch', 'update')]);
    }
  });
});
