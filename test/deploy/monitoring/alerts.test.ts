import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { groupingFaults, queryFaults } from './query-faults.ts';
import { readRunbook } from './read-runbook.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}

const { groups } = parse(readFileSync('deploy/alerts/plimsoll.yaml', 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules).map((rule) => [rule.alert, rule] as const);
const { inhibit_rules: inhibitions } = parse(readFileSync('deploy/alerts/alertmanager.yaml', 'utf8')) as {
  readonly inhibit_rules: readonly {
    readonly source_matchers: readonly string[];
    readonly target_matchers: readonly string[];
    readonly equal: readonly string[];
  }[];
};
const runbook = readRunbook(readFileSync('docs/runbook.md', 'utf8'));

/** The names of alerts that matchers such as `alertname =~ "A|B"` select. */
function matchedAlerts(matchers: readonly string[]): readonly string[] {
  return matchers.flatMap((matcher) => /^alertname =~? "(.*)"$/.exec(matcher)?.[1]?.split('|') ?? [matcher]);
}

describe('alerts', () => {
  test('are there, each name once', () => {
    expect(alerts.length).toBeGreaterThan(20);
    expect(new Set(alerts.map(([name]) => name)).size).toBe(alerts.length);
  });

  test.each(alerts)('%s asks for metrics that are exported', (_, { expr }) => {
    expect([...queryFaults(expr), ...groupingFaults(expr)]).toEqual([]);
  });

  test.each(alerts)('%s says how bad it is, what happens and where to read on', (name, { labels, annotations }) => {
    expect(name).toMatch(/^Plimsoll[A-Z][A-Za-z]+$/);
    expect(['info', 'warning', 'critical']).toContain(labels.severity);
    expect(annotations.summary).not.toMatch(/\.$/);
    expect(annotations.description).toMatch(/\.$/);
    expect(annotations.runbook_url).toBe(`https://plimsoll.dev/docs/runbook.md#${name.toLowerCase()}`);
  });

  test.each(alerts)('%s has a page in the runbook: meaning, impact, diagnosis, mitigation', (name) => {
    expect(runbook.get(name)).toEqual(['Meaning', 'Impact', 'Diagnosis', 'Mitigation']);
  });

  test('page only for what concerns the whole cluster: a node or a replica alone warns', () => {
    const paging = alerts.filter(([, { labels }]) => labels.severity === 'critical');
    expect(paging.length).toBeGreaterThan(5);
    const kept = paging.filter(
      ([, { expr }]) =>
        !/^(?:absent|(?:sum|min|max|count|group) by \((?:cluster|cluster, (?:name|webhook|purpose))\))/.test(expr),
    );
    expect(kept.map(([name]) => name)).toEqual([]);
  });

  test('the runbook has no page of an alert that is gone', () => {
    expect([...runbook.keys()].toSorted()).toEqual(alerts.map(([name]) => name).toSorted());
  });

  test('Alertmanager inhibits alerts that exist, none by itself, and by labels that both keep', () => {
    const names = new Set(alerts.map(([name]) => name));
    expect(inhibitions.length).toBeGreaterThan(3);
    for (const { source_matchers: sources, target_matchers: targets, equal } of inhibitions) {
      const [from, to] = [matchedAlerts(sources), matchedAlerts(targets)];
      expect([...from, ...to].filter((name) => !names.has(name))).toEqual([]);
      expect(to.filter((name) => from.includes(name))).toEqual([]);
      expect(equal).toContain('cluster');
    }
  });
});
