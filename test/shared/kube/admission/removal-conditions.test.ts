import { describe, expect, test } from 'vitest';
import { checkConditions } from '#sandbox/api-server/webhooks/match-webhook.ts';
import { webhooksOf } from '#sandbox/api-server/webhooks/webhook.ts';
import { webhookConfigurations } from '#shared/kube/admission/webhook-configurations.ts';
import { ACCOUNTS } from '#shared/kube/accounts/accounts.ts';

const target = { kind: 'url', url: 'https://127.0.0.1' } as const;
const [, validating] = webhookConfigurations({ target, failurePolicy: 'Ignore', gatedCallers: ['drainer'] });
const entries = webhooksOf(validating as never);

const RUNNING = { metadata: {}, spec: { priorityClassName: 'low' }, status: { phase: 'Running' } };
const TERMINATING = { ...RUNNING, metadata: { deletionTimestamp: '2026-11-29T02:00:00Z' } };
const SCHEDULER = 'system:kube-scheduler';

/** Whether the API server asks the webhook about a deletion. */
function isAsked(entry: 'deletions' | 'limited-deletions', oldObject: object, username: string): boolean {
  const conditions = entries.find(({ name }) => name === `${entry}.plimsoll.dev`)?.conditions ?? [];
  const request = { operation: 'DELETE', userInfo: { username, groups: [] }, oldObject };
  const outcome = checkConditions(conditions, request);
  expect(conditions.length).toBeGreaterThan(0);
  expect(outcome.kind).not.toBe('failed');
  return outcome.kind === 'met';
}

describe('a preemption waits for the webhook', () => {
  test.each([
    [true, 'a pod whose class may exempt it', RUNNING, SCHEDULER],
    [true, 'the same by a second scheduler', RUNNING, ACCOUNTS.secondScheduler.user],
    [false, 'a pod without a class', { ...RUNNING, spec: {} }, SCHEDULER],
    [false, 'a pod with an empty class', { ...RUNNING, spec: { priorityClassName: '' } }, SCHEDULER],
    [false, 'a pod that terminates already', TERMINATING, SCHEDULER],
    [true, 'a deletion by an account of ours, whatever the pod', { ...TERMINATING, spec: {} }, ACCOUNTS.agent.user],
    [true, 'a deletion by a caller that the operator named', { ...RUNNING, spec: {} }, 'drainer'],
    [false, 'a deletion by anyone else', RUNNING, 'alice'],
  ])('%s: %s', (expected, _, pod, username) => {
    expect(isAsked('deletions', pod, username)).toBe(expected);
  });
});

describe('a deletion under limits waits for the webhook', () => {
  test.each([
    [true, 'a running pod', RUNNING],
    [true, 'a pod of a lost node', { ...RUNNING, status: { phase: 'Unknown' } }],
    [true, 'a pod without a status', { metadata: {}, spec: {} }],
    [false, 'a pod that has not run', { ...RUNNING, status: { phase: 'Pending' } }],
    [false, 'a pod that has ended', { ...RUNNING, status: { phase: 'Succeeded' } }],
    [false, 'a pod that failed', { ...RUNNING, status: { phase: 'Failed' } }],
    [false, 'a pod that terminates already', TERMINATING],
  ])('%s: %s', (expected, _, pod) => {
    expect(isAsked('limited-deletions', pod, 'alice')).toBe(expected);
  });
});

test('an entry that lets everything pass without an answer holds up no removal for long', () => {
  const waits = Object.fromEntries(
    entries.map(({ name, timeoutSeconds }) => [name.replace('.plimsoll.dev', ''), timeoutSeconds]),
  );
  expect(waits).toMatchObject({ evictions: 2, deletions: 2, 'limited-deletions': 1 });
  const [, needed] = webhookConfigurations({ target, failurePolicy: 'Fail', gatedCallers: [] });
  const deletions = webhooksOf(needed as never).find(({ name }) => name === 'deletions.plimsoll.dev');
  expect(deletions).toMatchObject({ timeoutSeconds: 5 });
});
