import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { at } from '#test/contract/harness.ts';

const PAGE = 'docs/sizing.md';
/** The rows of its first table, and the container of a manifest that each is about. */
const ROWS: readonly (readonly [row: string, file: string, container: string])[] = [
  ['webhook', 'deploy/base/webhook/deployment.yaml', 'webhook'],
  ['agent', 'deploy/base/agent/daemonset.yaml', 'agent'],
  ['second scheduler: extender', 'deploy/components/scheduler-second/deployment.yaml', 'scheduler'],
  ['controller', 'deploy/components/controller/deployment.yaml', 'controller'],
];

interface Container {
  readonly name: string;
  readonly resources: Readonly<Partial<Record<'requests' | 'limits', Readonly<Record<string, string>>>>>;
}

/** Replicas, CPU request and limit, memory request and limit as a row of the page has them. */
function shown(row: string): readonly string[] {
  const cells = new RegExp(`^\\| ${row} +\\|(?<cells>.+)\\|$`, 'm').exec(readFileSync(PAGE, 'utf8'))?.groups?.['cells'];
  return cells?.split('|').map((cell) => cell.trim()) ?? [];
}

function asked(file: string, container: string): readonly string[] {
  const manifest: unknown = parse(readFileSync(file, 'utf8'));
  const containers = at(manifest, 'spec.template.spec.containers') as readonly Container[];
  const found = containers.find(({ name }) => name === container);
  const { requests = {}, limits = {} } = found?.resources ?? {};
  const replicas = at(manifest, 'spec.replicas') as number | undefined;
  return [
    `${replicas ?? 'one per node'}`,
    `${requests['cpu']}, ${limits['cpu'] ?? 'none'}`,
    `${requests['memory']}, ${limits['memory']}`,
  ];
}

test.each(ROWS)('what sizing says of %s is what its manifest asks for', (row, file, container) => {
  expect(shown(row)).toEqual(asked(file, container));
});

test.each(['webhook', 'agent'])('the %s may use no more memory than it requests', (row) => {
  const [request, limit] = shown(row).at(-1)?.split(', ') ?? [];
  expect(request).toBe(limit);
});
