import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { writtenManifests } from '#test/build/written-manifests.ts';
import { at } from '#test/contract/harness.ts';
import { earlierVersion, whyNoEarlierVersion } from './support/earlier-version.ts';
import { helm, whyNoHelm } from './support/helm.ts';

const CHANGELOG = fileURLToPath(new URL('../../../CHANGELOG.md', import.meta.url));
const ON = ['nodeController', 'disruptions', 'queues', 'rescheduling', 'dashboard'].map(
  (part) => `${part}.enabled=true`,
);
const SERVED = [
  '--kube-version',
  'v1.36.3',
  '--api-versions',
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy',
];
/** What a process needs to run and to be let in; policies that limited it name its account in the new chart, too. */
const NEEDED = /^(?:deployment|serviceaccount|role|rolebinding|clusterrole|clusterrolebinding|poddisruptionbudget) /;

const why = whyNoHelm(process.env) ?? whyNoEarlierVersion();

describe.skipIf(why !== undefined)(`an upgrade from the chart with a Deployment for each part${why ?? ''}`, () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** `kind namespace/name` of all objects. */
  async function objectsOf(chart: string): Promise<readonly string[]> {
    const values = ON.flatMap((value) => ['--set', value]);
    const { status, stdout, stderr } = await helm(['template', 'plimsoll', chart, ...SERVED, ...values]);
    expect([status, stderr]).toEqual([0, '']);
    const found = parseAllDocuments(stdout).map((document) => document.toJS() as unknown);
    return found.map((each) => {
      const namespace = at(each, 'metadata.namespace');
      const place = typeof namespace === 'string' ? namespace : '';
      return `${String(at(each, 'kind')).toLowerCase()} ${place}/${String(at(each, 'metadata.name'))}`;
    });
  }

  test('what the former leaders need is what the changelog keeps for them, and then deletes', async () => {
    const before = await objectsOf(join(earlierVersion(folder), 'dist/chart'));
    const now = new Set(await objectsOf(`${writtenManifests()}chart/`));
    const gone = before.filter((each) => NEEDED.test(each) && !now.has(each));
    expect(gone.length).toBeGreaterThan(20);
    expect(gone.filter((each) => !namedInChangelog().has(each))).toEqual([]);
  }, 120_000);
});

/** What the commands of the changelog name, as `kind namespace/name`. */
function namedInChangelog(): ReadonlySet<string> {
  const [, section = ''] = readFileSync(CHANGELOG, 'utf8').split('### Upgrade from earlier builds');
  const parts = /for part in ([^;]+);/.exec(section)?.[1]?.split(' ') ?? [];
  const commands = section.matchAll(/kubectl (?:-n (\S+) )?delete --ignore-not-found (\S+) (\S+)/g);
  return new Set(
    Array.from(commands).flatMap(([, namespace = '', kinds = '', name = '']) =>
      (name.includes('$part') ? parts.map((part) => name.replace('$part', part)) : [name]).flatMap((each) =>
        kinds.split(',').map((kind) => `${kind} ${namespace}/${each}`),
      ),
    ),
  );
}
