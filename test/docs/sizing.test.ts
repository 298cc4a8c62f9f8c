import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { at } from '#test/contract/harness.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';

const PAGE = 'docs/sizing.md';
/** The rows of its first table, and the container of a manifest that each is about. */
const ROWS: readonly (readonly [row: string, file: string, container: string])[] = [
  ['webhook', 'deploy/base/webhook/deployment.yaml', 'webhook'],
  ['agent', 'deploy/base/agent/daemonset.yaml', 'agent'],
  ['second scheduler: extender', 'deploy/components/scheduler-second/deployment.yaml', 'scheduler'],
  ['controller', 'deploy/components/controller/deployment.yaml', 'controller'],
];

type Amounts = Readonly<Partial<Record<'requests' | 'limits', Readonly<Record<string, string>>>>>;

interface Container {
  readonly name: string;
  readonly resources: Amounts;
}

/** Replicas, CPU request and limit, memory request and limit as a row of the page has them. */
function shown(row: string): readonly string[] {
  const cells = new RegExp(`^\\| ${row} +\\|(?<cells>.+)\\|$`, 'm').exec(readFileSync(PAGE, 'utf8'))?.groups?.['cells'];
  return cells?.split('|').map((cell) => cell.trim()) ?? [];
}

function resourcesIn(file: string, container: string): Container['resources'] {
  const manifest: unknown = parse(readFileSync(file, 'utf8'));
  const containers = at(manifest, 'spec.template.spec.containers') as readonly Container[];
  return containers.find(({ name }) => name === container)?.resources ?? {};
}

function asked(file: string, container: string): readonly string[] {
  const { requests = {}, limits = {} } = resourcesIn(file, container);
  const replicas = at(parse(readFileSync(file, 'utf8')), 'spec.replicas') as number | undefined;
  return [
    `${replicas ?? 'one per node'}`,
    `${requests['cpu']}, ${limits['cpu'] ?? 'none'}`,
    `${requests['memory']}, ${limits['memory']}`,
  ];
}

test.each(ROWS)('what sizing says of %s is what its manifest asks for', (row, file, container) => {
  expect(shown(row)).toEqual(asked(file, container));
});

const HELPERS = 'deploy/charts/plimsoll/templates/_helpers.tpl';
const [, SIZES = ''] = /define "plimsoll\.sizes" \}\}\n(.*?)\n\{\{- end/s.exec(readFileSync(HELPERS, 'utf8')) ?? [];
const sizes = parse(SIZES) as Readonly<Record<string, Readonly<Record<string, Amounts>>>>;

test.each(Object.entries(sizes))('what sizing says of clusterSize %s is what the chart requests', (size, of) => {
  const asked = ['scheduler', 'controller'].map((component) => {
    const { cpu, memory } = of[component]?.requests ?? {};
    return `${cpu}, ${memory}`;
  });
  expect(shown(size)).toEqual(asked);
  expect(of['controlPlaneExtender']).toEqual(of['scheduler']);
});

test('the default size of the chart is what the manifests ask for, and no size asks for less than a smaller one', () => {
  const { clusterSize } = parse(readFileSync('deploy/charts/plimsoll/values.yaml', 'utf8')) as { clusterSize: number };
  const components = ['webhook', 'agent', 'scheduler', 'controller'];
  const ofDefault = components.map((component) => sizes[clusterSize]?.[component]);
  expect(ofDefault).toEqual(ROWS.map(([, file, container]) => resourcesIn(file, container)));
  expect(Object.keys(sizes)).toEqual(['500', '1500', '5000']);
  for (const component of components) {
    const memory = Object.values(sizes).map((of) => Number.parseInt(of[component]?.requests?.['memory'] ?? ''));
    expect(memory).toEqual(memory.toSorted((left, right) => left - right));
  }
});

test('the webhook may use no more memory than it requests', () => {
  const [request, limit] = shown('webhook').at(-1)?.split(', ') ?? [];
  expect(request).toBe(limit);
});

const NODES = 20;
const MEBIBYTES_OF_A_GIBIBYTE = 1_024;
/** On control plane nodes, instead of a second scheduler. */
const ELSEWHERE = 'plimsoll-control-plane-extender';

test.each([
  ['base', 22, 2.4, 1_300],
  ['overlays/everything', 26, 3, 1_600],
])(
  'deploy/%s asks on 20 nodes for at most %i pods, %f GiB and %i millicores',
  (folder, mostPods, mostGibibytes, mostMillis) => {
    const workloads = buildFolder(`deploy/${folder}`).filter(
      ({ kind, metadata }) => ['Deployment', 'DaemonSet'].includes(kind) && metadata.name !== ELSEWHERE,
    );
    const sizes = workloads.map((workload) => {
      const containers = at(workload, 'spec.template.spec.containers') as readonly Container[];
      const pods = workload.kind === 'DaemonSet' ? NODES : Number(at(workload, 'spec.replicas'));
      return {
        pods,
        mebibytes: pods * requestsOf(containers, 'memory', /^(\d+)Mi$/),
        millis: pods * requestsOf(containers, 'cpu', /^(\d+)m$/),
      };
    });
    const sum = (field: 'pods' | 'mebibytes' | 'millis'): number =>
      sizes.reduce((total, each) => total + each[field], 0);
    expect(sum('millis')).toBeLessThanOrEqual(mostMillis);
    expect(sum('pods')).toBeLessThanOrEqual(mostPods);
    expect(sum('mebibytes')).toBeLessThanOrEqual(mostGibibytes * MEBIBYTES_OF_A_GIBIBYTE);
  },
);

function requestsOf(containers: readonly Container[], name: string, amount: RegExp): number {
  const amounts = containers.map(({ resources }) => Number(amount.exec(resources.requests?.[name] ?? '')?.[1]));
  return amounts.reduce((sum, each) => sum + each, 0);
}
