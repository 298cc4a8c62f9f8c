import { describe, expect, test } from 'vitest';
import { admissionModeFindings } from '#cli/check/check-cluster.ts';
import { manifestsOf } from '#test/cli/vector-cluster.ts';

const GROUP = 'admissionregistration.k8s.io/v1';

describe('admissionModeFindings', () => {
  const given = ['MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'].map((kind) => ({
    apiVersion: GROUP,
    kind,
    metadata: { name: 'defaults.plimsoll.dev' },
  }));

  /** Registrations whose entries for pods have these conditions; `undefined` for no such entry. */
  function registered(...conditions: readonly (readonly string[] | undefined)[]): readonly object[] {
    return ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'].map((kind, index) => {
      const names = conditions[index];
      const entry = { name: 'priority.plimsoll.dev', matchConditions: names?.map((name) => ({ name })) };
      const webhooks = names === undefined ? [] : [entry];
      return { apiVersion: GROUP, kind, metadata: { name: 'plimsoll' }, webhooks };
    });
  }

  const LEFT = ['not-by-a-node', 'left-to-webhook'];
  test.each<[string, readonly object[], string, string]>([
    ['only the webhook', registered([], []), 'OK', 'mode Webhook: the webhook reviews every new pod'],
    ['both', [...registered(LEFT, LEFT), ...given], 'OK', 'mode Both: the webhook reviews only the new'],
    ['both, without the validating entry', [...registered(LEFT, undefined), ...given], 'OK', 'mode Both'],
    ['only the API server', [...registered(undefined, undefined), ...given], 'OK', 'mode InProcess: the API server'],
    [
      'both, with every call',
      [...registered(LEFT, []), ...given],
      'Warning',
      'mode Both, but the webhook still reviews',
    ],
    ['left out without the policy', registered(LEFT, LEFT), 'Error', 'the webhook does not review every new pod'],
    ['without the binding', [...registered(LEFT, LEFT), ...given.slice(0, 1)], 'Error', 'the webhook does not review'],
    ['neither', registered(undefined, undefined), 'Error', 'the webhook has no entries for pods'],
  ])('%s', (_, objects, level, text) => {
    const found = admissionModeFindings(manifestsOf(objects));
    expect(found).toMatchObject([{ level, text: expect.stringMatching(`^${text}`) as string }]);
  });
});
