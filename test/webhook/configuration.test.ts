import { describe, expect, test } from 'vitest';
import { webhookConfigurations } from '#shared/kube/admission/webhook-configurations.ts';
import { managedName } from '#shared/kube/namespace-switches.ts';
import { webhookSchema } from '#webhook/configuration.ts';

interface Entry {
  readonly name: string;
  readonly timeoutSeconds: number;
}

/** Answers that let everything pass, and one that is decided at once: no removal waits for them. */
const OF_REMOVALS = ['evictions', 'deletions', 'limited-deletions']
  .map((name) => `${name}.plimsoll.dev`)
  .flatMap((name) => [name, managedName(name)]);

describe('webhookSchema', () => {
  test('answers before every registered timeout, and rejects other settings', () => {
    const target = { kind: 'url', url: 'https://127.0.0.1' } as const;
    const objects = webhookConfigurations({ target, failurePolicy: 'Ignore', gatedCallers: [] });
    const timeouts = objects.flatMap((object) =>
      (object['webhooks'] as readonly Entry[])
        .filter(({ name }) => !OF_REMOVALS.includes(name))
        .map(({ timeoutSeconds }) => timeoutSeconds),
    );
    const shortest = Math.min(...timeouts);
    // To be read and to be decided may take that long each.
    expect(webhookSchema.parse({}).requestSeconds * 2).toBeLessThan(shortest);
    expect(webhookSchema.safeParse({ requestSeconds: shortest / 2 }).success).toBe(false);
  });

  const refused: Record<string, object> = {
    'names of callers without an authority that certifies them': { tls: { clientNames: ['api'] } },
    'an external certificate without its files': { tls: { mode: 'cert-manager' } },
    'a deadline of nothing': { requestSeconds: 0 },
  };
  test.each(Object.entries(refused))('refuses %s', (_, settings) => {
    expect(webhookSchema.safeParse(settings).success).toBe(false);
  });
});
