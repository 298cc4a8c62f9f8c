import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { webhookConfigurations } from '#shared/kube/admission/webhook-configurations.ts';
import { COMPONENT_NAMES, EXEMPT_NAMESPACES, NAMESPACE_SYSTEM, WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';

const MANIFEST = fileURLToPath(new URL('../../deploy/base/webhook/configurations.yaml', import.meta.url));
const HEADING =
  '# From shared/kube/admission/webhook-configurations.ts; made anew by: npx vitest run --project quick test/deploy -u\n';
const SERVICE_PORT = 443;

/** What a manifest says of an entry; the builder's tests look at the rest. */
interface Entry {
  readonly name: string;
  readonly namespaceSelector?: { readonly matchExpressions: readonly object[] };
}

describe('deploy/base/webhook/configurations.yaml', () => {
  test('is what the builder gives for our Service, without an authority', async () => {
    const target = {
      kind: 'service',
      namespace: NAMESPACE_SYSTEM,
      name: COMPONENT_NAMES.webhook,
      port: SERVICE_PORT,
    } as const;
    const objects = webhookConfigurations({ target, failurePolicy: 'Ignore', gatedCallers: [] });
    const text = HEADING + objects.map((object) => stringify(object, { aliasDuplicateObjects: false })).join('---\n');
    const formatted = await format(text, { ...(await resolveConfig(MANIFEST)), filepath: MANIFEST });
    await expect(formatted).toMatchFileSnapshot(MANIFEST);
  });

  test('leaves the namespaces of Kubernetes and our own out wherever pods are created', () => {
    const objects = parseAllDocuments(readFileSync(MANIFEST, 'utf8')).map((document) => document.toJS() as KubeObject);
    const entries = objects.flatMap((object) => object['webhooks'] as readonly Entry[]);
    const judging = entries.filter(({ name }) => name === WEBHOOK_ENTRIES.priority || name === WEBHOOK_ENTRIES.quota);
    const exempt = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [...EXEMPT_NAMESPACES] };
    expect(judging.map(({ name }) => name)).toEqual(
      ['priority', 'priority', 'quota'].map((it) => `${it}.plimsoll.dev`),
    );
    for (const { namespaceSelector } of judging) expect(namespaceSelector?.matchExpressions).toContainEqual(exempt);
  });
});
