import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import {
  type AlertTest,
  firing,
  inTwoClusters,
  namesClusters,
  readAlertTests,
  restartedCounters,
} from './alert-cases.ts';
import { promtool, whyNoPromtool } from './promtool.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
const RULES = `${DEPLOY}alerts/plimsoll.yaml`;
const TESTS = fileURLToPath(new URL('./alerts.test.yaml', import.meta.url));

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const alerts = (parse(readFileSync(RULES, 'utf8')) as RuleFile).groups.flatMap(({ rules }) => rules);
const cases = readAlertTests(readFileSync(TESTS, 'utf8')).tests;
/** What nobody scrapes is missing, and says so. */
const WITHOUT_PROCESSES = ['PlimsollNoAgents', 'PlimsollWebhookDown'];
/** These series alone are no whole agent. */
const OF_PARTS = [...WITHOUT_PROCESSES, 'PlimsollNodePressureStale'];
/** What the series of a case are reason for besides: a node beside the cluster, or what the case must not count. */
const COMPANIONS: Readonly<Record<string, readonly string[]>> = {
  PlimsollManyEvictions: ['PlimsollPodsEvicted'],
  PlimsollEvictionsHeldBack: ['PlimsollCircuitBreakerOpen'],
  PlimsollCircuitBreakerOpen: ['PlimsollEvictionsHeldBack'],
  PlimsollCircuitBreakersOpen: ['PlimsollCircuitBreakerOpen', 'PlimsollEvictionsHeldBack'],
  PlimsollAgentsStalled: ['PlimsollAgentStalled'],
  PlimsollWebhookFaults: ['PlimsollWebhookOverloaded'],
  PlimsollCheckFailing: ['PlimsollCacheUnsynced', 'PlimsollLedgerUnhealthy', 'PlimsollNoLedger'],
  PlimsollNoLedger: ['PlimsollLedgerUnhealthy'],
  PlimsollCacheUnsynced: ['PlimsollCheckFailing'],
};
const WELL = { isWell: true, said: expect.any(String) as unknown };
const why = whyNoPromtool(process.env);

describe.skipIf(why !== undefined)(`alerts and dashboards, judged by promtool${why ?? ''}`, () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('the rules are valid', () => {
    expect(promtool(['check', 'rules', RULES])).toMatchObject({ isWell: true });
  });

  test('every alert stays quiet while all is well, and fires when it is not', () => {
    const { tests } = readAlertTests(readFileSync(TESTS, 'utf8'));
    expect(tests.map(({ name }) => name).toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
    for (const { promql_expr_test: asked } of tests) {
      expect(asked.map(({ exp_samples: expected }) => expected.length > 0)).toEqual([false, true]);
    }
    expect(promtool(['test', 'rules', TESTS])).toMatchObject({ isWell: true });
  });

  function judge(tests: readonly AlertTest[]) {
    writeFileSync(join(folder, 'plimsoll.yaml'), readFileSync(RULES));
    const all = { ...readAlertTests(readFileSync(TESTS, 'utf8')), rule_files: ['plimsoll.yaml'], tests };
    writeFileSync(join(folder, 'made.yaml'), stringify(all));
    return promtool(['test', 'rules', 'made.yaml'], folder);
  }

  test('each alert fires in its case, and no other', () => {
    const made = cases.map((each) => {
      const { name, promql_expr_test: asked } = each;
      const others = OF_PARTS.filter((alert) => alert !== name);
      return firing(each, [asked.at(-1)?.eval_time ?? ''], [name, ...(COMPANIONS[name] ?? [])], others);
    });
    expect(judge(made)).toEqual(WELL);
  });

  test('of two clusters in one Prometheus, each alert fires for each', () => {
    const others = cases.filter((each) => !namesClusters(each));
    expect(others.length).toBeGreaterThan(30);
    expect(judge(others.map(inTwoClusters))).toEqual(WELL);
  });

  test('a counter that begins again is no event', () => {
    const times = ['89m', '91m', '92m', '95m', '100m', '110m'];
    const quiet = firing({ name: 'restarted', input_series: restartedCounters(cases) }, times, [
      'PlimsollAgentStalled',
      ...WITHOUT_PROCESSES,
    ]);
    expect(judge([quiet])).toEqual(WELL);
  });

  test('where nothing is scraped, only what is missing is said', () => {
    const none = firing({ name: 'nothing', input_series: [] }, ['30m', '120m'], WITHOUT_PROCESSES);
    expect(judge([none])).toEqual(WELL);
  });

  test('an alert that never fires is noticed', () => {
    const never = readFileSync(RULES, 'utf8').replace('plimsoll_evictions_stuck > 0', 'plimsoll_evictions_stuck > 9');
    writeFileSync(join(folder, 'plimsoll.yaml'), never);
    const tests = { ...(parse(readFileSync(TESTS, 'utf8')) as object), rule_files: ['plimsoll.yaml'] };
    writeFileSync(join(folder, 'tests.yaml'), stringify(tests));
    const { isWell, said } = promtool(['test', 'rules', 'tests.yaml'], folder);
    expect([isWell, said.match(/exp: \{/g)?.length]).toEqual([false, 1]);
  });

  test('every query of the dashboards is valid', () => {
    const queries = readdirSync(`${DEPLOY}dashboards`)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => queriesOf(readFileSync(`${DEPLOY}dashboards/${name}`, 'utf8')));
    expect(queries.length).toBeGreaterThan(30);
    const rules = queries.map((expr, index) => ({ record: `query:${index}`, expr }));
    writeFileSync(join(folder, 'queries.yaml'), stringify({ groups: [{ name: 'dashboards', rules }] }));
    expect(promtool(['check', 'rules', '--lint=none', 'queries.yaml'], folder)).toMatchObject({ isWell: true });
  });
});

/** The queries of panels and annotations, with values in place of Grafana's variables. */
function queriesOf(board: string): readonly string[] {
  const found: string[] = [];
  JSON.parse(board, (key, value: unknown) => {
    if (key === 'expr' && typeof value === 'string') found.push(value);
    return value;
  });
  return found.map((query) => query.replaceAll(/\$__(?:rate_interval|range)/g, '5m').replaceAll(/\$\w+/g, 'x'));
}
