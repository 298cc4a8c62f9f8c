import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { groupingFaults, queryFaults } from './query-faults.ts';

interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly description: string;
  readonly datasource: { readonly uid: string };
  readonly fieldConfig: {
    readonly defaults: { readonly unit: string; readonly links?: readonly { readonly url: string }[] };
  };
  readonly gridPos: Box;
  readonly targets: readonly Target[];
}

interface Target {
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: { readonly uid: string };
}

interface Board {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: string }[] };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly links: readonly { readonly type: string; readonly tags: readonly string[]; readonly keepTime: boolean }[];
  readonly panels: readonly Panel[];
}

const FOLDER = 'deploy/dashboards/';
const boards = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name, JSON.parse(readFileSync(FOLDER + name, 'utf8')) as Board] as const);

describe('dashboards', () => {
  test('are there, each uid once', () => {
    const names = ['disruptions', 'evictions', 'node', 'nodes', 'priorities', 'queues', 'rescheduling', 'spare'];
    expect(boards.map(([name]) => name)).toEqual(names.map((name) => `${name}.json`));
    expect(new Set(boards.map(([, { uid }]) => uid)).size).toBe(boards.length);
  });

  test.each(boards)('%s says what it is', (_, { uid, title, description, tags }) => {
    expect(uid).toMatch(/^plimsoll-[a-z]+$/);
    expect(title).toMatch(/^Plimsoll \/ /);
    expect([description !== '', tags]).toEqual([true, ['plimsoll']]);
  });

  test('a series of one node leads to the dashboard of that node', () => {
    const ofNodes = boards.flatMap(([, { panels }]) =>
      panels.filter(({ targets }) => targets.some(({ legendFormat }) => legendFormat.includes('{{node}}'))),
    );
    expect(ofNodes.length).toBeGreaterThan(3);
    for (const { fieldConfig } of ofNodes)
      expect(fieldConfig.defaults.links?.map(({ url }) => url)).toEqual([
        expect.stringMatching(
          /^\/d\/plimsoll-node\?.*&var-node=\$\{__(?:field\.labels|data\.fields)\.node\}&\$\{__url_time_range\}$/,
        ),
      ]);
  });

  test.each(boards)('%s leads to the others at the same time range, and marks events', (_, { links, annotations }) => {
    expect(links).toMatchObject([{ type: 'dashboards', tags: ['plimsoll'], keepTime: true }]);
    expect(annotations.list.length).toBeGreaterThan(0);
  });

  test.each(boards)('%s asks for metrics that are exported', (_, { panels, annotations }) => {
    const targets = panels.flatMap((panel) => panel.targets);
    const queries = [...targets, ...annotations.list].map(({ expr }) => expr);
    expect(queries.length).toBeGreaterThan(5);
    expect(queries.flatMap((query) => [...queryFaults(query), ...groupingFaults(query)])).toEqual([]);
  });

  test.each(boards)(
    '%s: every panel has a title, a description, a unit, a query and the chosen data source',
    (_, { panels }) => {
      const sources = panels.flatMap(({ datasource, targets }) => [
        datasource,
        ...targets.map((target) => target.datasource),
      ]);
      expect(new Set(sources.map(({ uid }) => uid))).toEqual(new Set(['${datasource}']));
      const bare = panels.filter(
        ({ title, description, fieldConfig, targets }) =>
          [title, description, fieldConfig.defaults.unit].includes('') ||
          targets.some(({ legendFormat }) => legendFormat === ''),
      );
      expect(bare).toEqual([]);
      expect(panels.every(({ targets }) => targets.length > 0)).toBe(true);
    },
  );

  test.each(boards)('%s: no two panels share an id or a place', (_, { panels }) => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const overlaps = panels.flatMap((one, index) =>
      panels.slice(index + 1).filter((other) => isOver(one.gridPos, other.gridPos)),
    );
    expect(overlaps).toEqual([]);
    expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
  });

  test.each(boards)('%s uses only variables that it defines', (_, board) => {
    const known = board.templating.list.map(({ name }) => name);
    const used = Array.from(JSON.stringify(board).matchAll(/\$\{?(\w+)/g), ([, name = '']) => name);
    expect(used.filter((name) => !name.startsWith('__') && !known.includes(name))).toEqual([]);
    for (const { name, query } of board.templating.list) {
      if (name === 'datasource') continue;
      const [, metric = '', label] = /^label_values\((\w+)(?:\{[^}]*\})?, (\w+)\)$/.exec(query) ?? [];
      expect([label, queryFaults(`${metric}{}`)]).toEqual([name, []]);
    }
  });
});

function isOver(one: Box, other: Box): boolean {
  const isBeside = one.x + one.w <= other.x || other.x + other.w <= one.x;
  return !isBeside && one.y < other.y + other.h && other.y < one.y + one.h;
}
