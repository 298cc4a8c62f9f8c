import { expect, test } from 'vitest';
import { NAMESPACES, PODS, POLICIES, PRIORITY_QUOTAS, runWebhook } from '#test/webhook/support/webhook-process.ts';
import { CONDITIONS } from '#webhook/messages.ts';
import { eventually } from '#test/build/waiting.ts';

interface Status {
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason: string;
    readonly message: string;
  }[];
}

test(
  'the webhook reports in conditions what cannot take effect or be read, and where a quota is not enforced',
  { timeout: 60_000 },
  async () => {
    const webhook = await runWebhook((api) => {
      api.put(NAMESPACES, { metadata: { name: 'team-a', labels: { 'plimsoll.dev/priority-quota': 'enforced' } } });
      api.put(NAMESPACES, { metadata: { name: 'team-b', labels: {} } });
      api.put(PODS, {
        metadata: { name: 'odd', namespace: 'team-a', uid: 'odd' },
        spec: { priorityClassName: 'high', containers: 'none' },
      });
      api.put(POLICIES, { metadata: { name: 'p', generation: 3 }, spec: { defaultPriorityClassName: 'gone' } });
      api.put(PRIORITY_QUOTAS, {
        metadata: { name: 'q', generation: 1 },
        spec: { priorityClassNames: ['high'], hard: { pods: '1' } },
      });
    });
    const conditionsOf = (collection: string, name: string) => {
      const status = webhook.api.get(collection, name)?.['status'] as Status | undefined;
      const own = status?.conditions?.filter(({ type }) => type !== 'EnforcedByAPIServer');
      return own?.map(({ type, status: value, reason, message }) => ({
        type,
        status: value,
        reason,
        message,
      }));
    };
    await eventually(() =>
      expect(conditionsOf(POLICIES, 'p')).toEqual([
        {
          type: 'Ready',
          status: 'False',
          reason: 'SettingsWithoutEffect',
          message: 'defaultPriorityClassName: there is no class `gone`',
        },
        { type: 'Conflicting', status: 'False', reason: 'NoConflict', message: CONDITIONS.noConflict() },
      ]),
    );
    // The leader may write conditions before the pods have been counted; it does so again within 20 s.
    await eventually(
      () =>
        expect(conditionsOf(PRIORITY_QUOTAS, 'q')).toEqual([
          {
            type: 'Ready',
            status: 'False',
            reason: 'NotEnforcedEverywhere',
            message: `${CONDITIONS.notEnforced([`${CONDITIONS.gapUnlabelled('plimsoll.dev/priority-quota=enforced')}: default, team-b`, `${CONDITIONS.gapExempt()}: kube-node-lease, kube-public, kube-system, plimsoll-system`])}; priorityClassNames: there is no class \`high\``,
          },
          {
            type: 'PodsReadable',
            status: 'False',
            reason: 'UnreadablePods',
            message: CONDITIONS.unreadablePods(['team-a/odd']),
          },
        ]),
      30_000,
    );
    await webhook.stop();
  },
);
