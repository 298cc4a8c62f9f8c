import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { schedulerSchema } from '#scheduler/configuration.ts';
import { startScheduler } from '#scheduler/scheduler.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { apiDouble } from '#test/fakes/api-double.ts';

const log = createLog({ component: 'test', level: 'silent', format: 'json' });
const LOOPBACK = { host: '127.0.0.1', port: 0, healthHost: '127.0.0.1', healthPort: 0, drainSeconds: 0 };
const PATIENCE_MS = 20_000;
const WATCHED_MS = 1_000;

const ALL_OFF = { extender: 'Off', nodes: { passes: 'Off' } };
const NODES = { nodes: { passes: 'On' } };
const RECORD = { disruptions: { record: 'On' } };
const QUEUES = { queues: { passes: 'On' } };
const MOVES = { rescheduling: { passes: 'On' } };
const DASHBOARD = { dashboard: { host: '127.0.0.1', port: 0 } };
const EXTENDER = { extender: 'On' };

const VIEW = ['daemonsets', 'namespaces', 'nodepressures', 'nodes', 'poddisruptionbudgets', 'pods', 'priorityclasses'];
const OF_NODES = ['nodepressurepolicies', 'nodepressures', 'nodes', 'pods of plimsoll-node'];
const OF_RECORD = ['disruptionlimits', 'disruptionpolicies', 'disruptions', 'events', 'queues', 'reschedulingpolicies'];
const OF_MOVES = ['disruptionaccounts', 'disruptionlimits', 'disruptionpolicies', 'reschedulingpolicies'];
const OF_DASHBOARD = [
  ...['nodepressurepolicies', 'nodepressures', 'nodes'],
  ...['disruptions', 'events', 'priorityclasses', 'prioritypolicies', 'priorityquotas', 'queues', 'resourcequotas'],
];

const directory = mkdtempSync(join(tmpdir(), 'shared-reads-'));
afterAll(() => {
  rmSync(directory, { recursive: true });
});

function environment(server: string): Readonly<Record<string, string>> {
  const file = join(directory, 'empty');
  writeFileSync(file, '');
  return { PLIMSOLL_SERVER: server, PLIMSOLL_TOKEN_FILE: file, PLIMSOLL_CA_FILE: file };
}

/** The collections that a leading process watches, and how often it has asked for a watch and for a list of each. */
async function readBy(
  parts: object,
  least: number,
): Promise<{ readonly watched: readonly string[]; readonly listed: number }> {
  const api = await apiDouble();
  const watched: string[] = [];
  let listed = 0;
  api.onRequest = ({ method, path, isWatch }) => {
    const collection = path.split('/').at(-1) ?? '';
    const [, namespace] = /\/namespaces\/([^/]+)\//.exec(path) ?? [];
    const name = namespace === undefined ? collection : `${collection} of ${namespace}`;
    if (isWatch && collection !== 'leases') watched.push(name);
    else if (method === 'GET' && /^[a-z]+s$/.test(collection) && collection !== 'leases') listed += 1;
    return undefined;
  };
  const shutdown = createShutdown({ log, clock, deadlineMs: 10_000, processSignals: new EventEmitter() });
  const configuration = schedulerSchema.parse({ ...LOOPBACK, ...ALL_OFF, ...parts });
  await startScheduler(configuration, { clock, random: () => 0.5, log, env: environment(api.url), shutdown });
  await eventually(() => {
    expect(watched.length).toBeGreaterThanOrEqual(least);
  }, PATIENCE_MS);
  // Nothing else is read, also not by a part that begins to lead.
  await letTimePass(WATCHED_MS, 'watched');
  await shutdown.stop('the test is over');
  await api.close();
  return { watched: watched.sort(), listed };
}

const sorted = (...collections: readonly (readonly string[])[]) => [...new Set(collections.flat())].sort();

test.concurrent.each<[string, object, readonly string[]]>([
  ['the node controller', NODES, sorted(OF_NODES)],
  ['the dashboard', DASHBOARD, sorted(OF_DASHBOARD)],
  ['the extender', EXTENDER, sorted(VIEW, ['queues'])],
  ['the record', RECORD, sorted(VIEW, OF_RECORD)],
  ['queues', QUEUES, sorted(VIEW, ['queues'])],
  ['rescheduling', MOVES, sorted(VIEW, OF_MOVES)],
  [
    'node controller, record and rescheduling',
    { ...NODES, ...RECORD, ...MOVES },
    sorted(VIEW, OF_NODES, OF_RECORD, OF_MOVES),
  ],
])('%s: each kind is watched once, and no other kind', async (_, parts, expected) => {
  expect((await readBy(parts, expected.length)).watched).toEqual(expected);
});

test.concurrent('with all parts on, each kind is listed and watched once', async () => {
  // The record reads the Events of preemptions alone.
  const all = [...sorted(VIEW, OF_NODES, OF_RECORD, OF_MOVES, OF_DASHBOARD), 'events'].sort();
  const parts = { ...EXTENDER, ...NODES, ...RECORD, ...QUEUES, ...MOVES, ...DASHBOARD };
  const { watched, listed } = await readBy(parts, all.length);
  expect(watched).toEqual(all);
  expect(listed).toBe(watched.length);
});
