import { describe, expect, test } from 'vitest';
import { EVENT_REASONS } from '#shared/kube/api-names.ts';
import { describeCommandLine } from '#tools/references/describe-command-line.ts';
import { CONFIGURATIONS, describeConfiguration } from '#tools/references/describe-configuration.ts';
import { describeEvents } from '#tools/references/describe-events.ts';
import { describeMessages } from '#tools/references/describe-messages.ts';
import { type Definition, describeObjects } from '#tools/references/describe-objects.ts';
import { allowedValues, schemaFields } from '#tools/references/schema-fields.ts';
import { listSettings } from '#shared/runtime/settings.ts';

describe('schemaFields', () => {
  test('lists what is nested, also in lists, with types and what is required', () => {
    const item = { type: 'object', required: ['max'], properties: { max: { type: 'integer' } } };
    const schema = {
      type: 'object',
      properties: {
        limits: { type: 'array', items: item },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        at: { type: 'string', format: 'date-time' },
      },
    };
    expect(schemaFields(schema).map(({ path, type, isRequired }) => [path, type, isRequired])).toEqual([
      ['limits', 'list of object', false],
      ['limits[].max', 'integer', true],
      ['labels', 'map of string', false],
      ['at', 'time', false],
    ]);
  });

  test.each([
    [{ enum: ['Deny', 'Warn'] }, '`Deny`, `Warn`'],
    [{ minimum: 0, maximum: 100 }, '0 to 100'],
    [{ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }, 'at least 1'],
    [{ maximum: 5 }, 'at most 5'],
    [{}, ''],
  ])('tells the values of %j', (schema, expected) => {
    expect(allowedValues(schema)).toBe(expected);
  });
});

test('the page of objects has the fields of each kind, but not those that every object has', () => {
  const properties = {
    metadata: { type: 'object' },
    spec: { type: 'object', properties: { mode: { type: 'string', default: 'DryRun', description: 'A | B' } } },
  };
  const schema = { openAPIV3Schema: { description: 'A thing.', properties } };
  const names = { kind: 'Thing', plural: 'things', shortNames: ['th'] };
  const definition: Definition = {
    spec: { group: 'plimsoll.dev', scope: 'Cluster', names, versions: [{ name: 'v1', schema }] },
  };
  const page = describeObjects([definition]);
  expect(page).toContain('## Thing\n\nA thing.\n\n`plimsoll.dev/v1`, scope Cluster, kubectl: `things`, `th`');
  expect(page).toContain('| `spec.mode` | string; default `"DryRun"` | A \\| B |');
  expect(page).not.toContain('metadata');
});

test('the page of settings has every flag and every variable of every process', () => {
  const page = describeConfiguration();
  const settings = Object.values(CONFIGURATIONS).flatMap((schema) => listSettings(schema, 'PLIMSOLL'));
  expect(settings.length).toBeGreaterThan(80);
  const missing = settings.filter(({ flag, variable }) => !page.includes(`| \`${flag}\`<br>\`${variable}\` |`));
  expect(missing).toEqual([]);
});

test('the page of Events has those that the sources report, with all that report them', () => {
  const sources: Readonly<Record<string, string>> = {
    agent: 'reason: EVENT_REASONS.evicted, EVENT_REASONS.evictionFailed,',
    webhook: 'reason: EVENT_REASONS.evictionFailed,',
  };
  const page = describeEvents((component) => sources[component] ?? '');
  expect(page).toMatch(/`Evicted` \| Warning \| Pod \| `plimsoll.dev\/agent` \|/);
  expect(page).toMatch(/`EvictionFailed` \| Warning \| Pod \| `plimsoll.dev\/webhook`, `plimsoll.dev\/agent` \|/);
  expect(page).not.toContain(EVENT_REASONS.policyViolated);
});

test('the page of messages has each code once, with its first sentence, and no log', () => {
  const page = describeMessages({
    agent: '# Reasons: code, text\n\nBackoff: waits 5 s: refused\nA: a\nBackoff: x\n\n# Log: name, text\n\nA: b\n',
  });
  expect(page).toContain(
    '### Reasons\n\n| code | message |\n| --- | --- |\n| `Backoff` | waits 5 s: refused |\n| `A` | a |\n',
  );
  expect(page).not.toContain('### Log');
});

test('a message without a name is not cut in two', () => {
  expect(() => describeMessages({ agent: '# Reasons: code, text\n\nAgent started\n' })).toThrow(
    'cannot describe message "Agent started": expected a name and a colon before it',
  );
});

test('the page of the command line has every command with its own flags, and none that is hidden', () => {
  const page = describeCommandLine();
  expect(page).toContain('| `--wait <seconds>` | check every second until there are no errors');
  expect(page.split('| `--kubeconfig <file>` |')).toHaveLength(2);
  for (const command of ['check', 'simulate preempt', 'top nodes', 'why-not']) {
    expect(page).toContain(`## plimsoll ${command}\n`);
  }
  expect(page).not.toContain('__complete');
});
