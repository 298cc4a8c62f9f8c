import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { DISRUPTION_POLICIES, NODE_PRESSURE_POLICIES, QUEUES } from '#shared/kube/resource.ts';
import { SWITCHES, switchRows } from '#cli/mode/show-switches.ts';
import { at, textAt } from '#test/contract/harness.ts';

const ACTS = ['Enforce', 'Deny'];

/** The fields below a schema whose values let a part act; entries of lists have no name to set them by. */
function modesIn(schema: unknown, path = ''): readonly string[] {
  const values = at(schema, 'enum') as readonly unknown[] | undefined;
  if (values?.some((value) => ACTS.includes(String(value)))) return [path];
  const properties = Object.entries((at(schema, 'properties') ?? {}) as Readonly<Record<string, unknown>>);
  return properties.flatMap(([name, each]) => modesIn(each, path === '' ? name : `${path}.${name}`));
}

const fieldsOf = (kind: string) => SWITCHES.find(([resource]) => resource.kind === kind)?.[1] ?? {};
const shortly = (rows: ReturnType<typeof switchRows>) =>
  rows.map(({ object, field, value, isDefault, written }) => {
    const more = isDefault ? ' (default)' : written === undefined ? '' : ` (written: ${written})`;
    return `${object} ${field}=${value}${more}`;
  });

describe('the switches of a cluster', () => {
  test('of a policy, what it says and what holds otherwise', () => {
    const policy = { metadata: { name: 'batch' }, spec: { mode: 'Enforce', taints: { mode: 'Disabled' } } };
    expect(shortly(switchRows(NODE_PRESSURE_POLICIES, fieldsOf('NodePressurePolicy'), [policy]))).toEqual([
      'nodepressurepolicy/batch spec.mode=Enforce',
      'nodepressurepolicy/batch spec.avoidance.mode=DryRun (default)',
      'nodepressurepolicy/batch spec.taints.mode=Disabled',
      'nodepressurepolicy/batch spec.cpu.mode=DryRun (default)',
      'nodepressurepolicy/batch spec.spare.mode=Disabled (default)',
    ]);
    const measured = { metadata: { name: 'batch' }, spec: { spare: { percentile: 99 } } };
    expect(shortly(switchRows(NODE_PRESSURE_POLICIES, fieldsOf('NodePressurePolicy'), [measured])).at(-1)).toBe(
      'nodepressurepolicy/batch spec.spare.mode=DryRun (default)',
    );
  });

  test('are all fields of our objects that let a part act or only report', () => {
    const found = readdirSync('deploy/crds')
      .filter((file) => file.startsWith('plimsoll.dev_'))
      .map((file): unknown => parse(readFileSync(`deploy/crds/${file}`, 'utf8')))
      .flatMap((crd) => {
        const schema = at(crd, 'spec.versions.0.schema.openAPIV3Schema.properties.spec');
        return modesIn(schema).map((field) => `${textAt(crd, 'spec.names.kind')} ${field}`);
      });
    const shown = SWITCHES.flatMap(([{ kind }, fields]) => Object.keys(fields).map((field) => `${kind} ${field}`));
    expect(found.filter((field) => !shown.includes(field))).toEqual([]);
    expect(found.length).toBeGreaterThan(7);
  });

  test('stand in the table of the guide, with what holds at first', () => {
    const guide = readFileSync('docs/guides/command-line.md', 'utf8');
    const rows = guide.matchAll(/^\| (?<kind>\w+)(?: `root`)? \| `(?<field>[\w.]+)` \| `(?<value>\w+)` \|/gm);
    const told = Array.from(rows, ({ groups }) => `${groups?.['kind']} ${groups?.['field']}=${groups?.['value']}`);
    const acting = SWITCHES.flatMap(([{ kind }, fields]) =>
      Object.entries(fields)
        .filter(([field]) => /(^|\.)mode$|onViolation|forbiddingBudgets/.test(field))
        .map(([field, value]) => `${kind} ${field}=${value}`),
    );
    expect(told.toSorted()).toEqual(acting.toSorted());
  });

  test.each<[string, readonly object[], string]>([
    ['without a root', [{ metadata: { name: 'a' }, spec: {} }], 'queue/root spec.reclaim.mode=DryRun (default)'],
    [
      'with one',
      [{ metadata: { name: 'root' }, spec: { reclaim: { mode: 'Enforce' } } }],
      'queue/root spec.reclaim.mode=Enforce',
    ],
    [
      'with one that says what cannot be read, the mode in force',
      [{ metadata: { name: 'root' }, spec: { reclaim: { mode: 'Enforce', by: 'Weights' } } }],
      'queue/root spec.reclaim.mode=DryRun (written: Enforce)',
    ],
  ])('of queues %s only those of the root', (_, objects, first) => {
    const rows = shortly(switchRows(QUEUES, fieldsOf('Queue'), objects));
    expect([rows.length, rows[0]]).toEqual([4, first]);
  });

  test('of the one DisruptionPolicy, also where there is none, and numbers too', () => {
    const rows = (...objects: readonly object[]) =>
      shortly(switchRows(DISRUPTION_POLICIES, fieldsOf('DisruptionPolicy'), objects));
    expect(rows()).toEqual([
      'disruptionpolicy/plimsoll spec.forbiddingBudgets=Show (default)',
      'disruptionpolicy/plimsoll spec.retention.period=168h (default)',
      'disruptionpolicy/plimsoll spec.retention.perNamespace=500 (default)',
      'disruptionpolicy/plimsoll spec.retention.total=20000 (default)',
    ]);
    const policy = { metadata: { name: 'plimsoll' }, spec: { retention: { total: 7 } } };
    expect(rows(policy)).toContain('disruptionpolicy/plimsoll spec.retention.total=7');
  });
});
