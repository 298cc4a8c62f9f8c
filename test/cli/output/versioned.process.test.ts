import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { globSync, readFileSync } from 'node:fs';
import { GUIDE_FILES } from '#test/cli/guide-files.ts';
import { folderWith, runPlimsoll } from '#test/cli/run-plimsoll.ts';

const folder = folderWith(GUIDE_FILES);
const file = join(folder, 'cluster.json');

/** Each command that prints a table, and the kind that it prints with `-o json`. */
const KINDS: readonly (readonly [kind: string, ...words: readonly string[]])[] = [
  ['NodeSummaryList', 'top', 'nodes'],
  ['EvictionCandidateList', 'top', 'pods'],
  ['PrioritySummaryList', 'top', 'priorities'],
  ['QuotaSummaryList', 'top', 'quotas'],
  ['ReviewResultList', 'review'],
  ['PodExplanation', 'explain', 'pod/ledger-0', '-n', 'payments'],
  ['QuotaExplanation', 'explain', 'quota/critical'],
  ['DisruptionExplanation', 'explain', 'disruption/nightly-7.0a1b2c3d', '-n', 'reports'],
  ['RemovedPodExplanation', 'explain', 'pod/nightly-7', '-n', 'reports'],
  ['DisruptionSummaryList', 'disruptions', '-A'],
  ['PendingPodList', 'why-not', '-A'],
  ['PendingPod', 'why-not', 'payments/standby-0'],
  ['FindingList', 'check'],
  ['PreemptionSimulation', 'simulate', 'preempt', '--pod', 'payments/checkout-0'],
  ['PressureSimulation', 'simulate', 'pressure', '--node', 'node/node-2', '--available', '300Mi'],
];

describe('what programs read has a version and a kind', () => {
  test.each(KINDS)('%s of %s', async (kind, ...words) => {
    const { stdout } = await runPlimsoll([...words, '-f', file, '-o', 'yaml']);
    const document: unknown = parse(stdout);
    expect(document).toMatchObject({ apiVersion: 'plimsoll.dev/v1alpha1', kind });
    expect(document).toHaveProperty(kind.endsWith('List') ? 'items' : 'metadata');
  });

  test('no kind is one that the API server serves', () => {
    const served = globSync('deploy/crds/plimsoll.dev_*.yaml').map((path) => {
      const { spec } = parse(readFileSync(path, 'utf8')) as {
        readonly spec: { readonly names: { readonly kind: string } };
      };
      return spec.names.kind;
    });
    expect(served.length).toBeGreaterThan(4);
    expect(KINDS.filter(([kind]) => served.includes(kind.replace(/List$/, '')))).toEqual([]);
  });
});
