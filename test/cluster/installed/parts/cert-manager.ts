import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadConfiguration } from '#shared/runtime/configuration.ts';
import { at } from '#test/contract/harness.ts';
import { webhookSchema } from '#webhook/configuration.ts';
import { builtManifests, nameOf } from '#test/cluster/installed/support/built-manifests.ts';
import type { InstalledCluster } from '#test/cluster/installed/support/installed-cluster.ts';

type ByName = ReadonlyMap<string, unknown>;

const SECRET = 'Secret plimsoll-system/plimsoll-webhook-tls';
const DEPLOYMENT = 'Deployment plimsoll-system/plimsoll-webhook';
const CONFIGURATIONS = ['MutatingWebhookConfiguration plimsoll', 'ValidatingWebhookConfiguration plimsoll'];
const RIGHTS = ['ClusterRole plimsoll-webhook', 'Role plimsoll-system/plimsoll-webhook'];
const MADE = [
  'Issuer plimsoll-ca',
  'Issuer plimsoll-self-signed',
  'Certificate plimsoll-ca',
  'Certificate plimsoll-webhook',
];

/** Registers tests on the overlay with a certificate from cert-manager. */
export function certManager({ own }: InstalledCluster): void {
  async function built(folder: string): Promise<ByName> {
    const objects = await builtManifests(own().cluster.kubeconfig, folder);
    return new Map(objects.map((object) => [nameOf(object), object]));
  }

  test('deploy/overlays/cert-manager differs from deploy/base in certificates and rights alone', async () => {
    const [base, overlay] = [await built('base'), await built('overlays/cert-manager')];
    const [before, after] = [[...base.keys()], [...overlay.keys()]];
    expect(before.filter((name) => !overlay.has(name))).toEqual([SECRET]);
    const added = after.filter((name) => !base.has(name)).map((name) => name.replace('plimsoll-system/', ''));
    expect(added.toSorted()).toEqual(MADE.toSorted());
    const changed = after.filter((name) => base.has(name) && !isSame(base.get(name), overlay.get(name)));
    expect(changed.toSorted()).toEqual([...CONFIGURATIONS, ...RIGHTS, DEPLOYMENT].toSorted());
  });

  test('there the webhook can change no webhook configuration, and read no Secret', async () => {
    const overlay = await built('overlays/cert-manager');
    const rules = RIGHTS.flatMap((name) => at(overlay.get(name), 'rules') as readonly Rule[]);
    const about = (resource: string) => rules.filter(({ resources }) => resources.includes(resource));
    expect(about('secrets')).toEqual([]);
    expect(about('validatingwebhookconfigurations').map(({ verbs }) => verbs)).toEqual([['get']]);
  });

  test('there the certificate is served that the API server is told to trust', async () => {
    const overlay = await built('overlays/cert-manager');
    const annotation = 'cert-manager.io/inject-ca-from';
    for (const name of CONFIGURATIONS)
      expect(at(overlay.get(name), 'metadata.annotations')).toMatchObject({
        [annotation]: 'plimsoll-system/plimsoll-webhook',
      });
    const pod = at(overlay.get(DEPLOYMENT), 'spec.template.spec');
    expect(at(pod, 'volumes.0.secret.secretName')).toBe(
      at(overlay.get('Certificate plimsoll-system/plimsoll-webhook'), 'spec.secretName'),
    );
    const folder = String(at(pod, 'containers.0.volumeMounts.0.mountPath'));
    const loaded = loadConfiguration({
      kind: 'WebhookConfiguration',
      schema: webhookSchema,
      argv: at(pod, 'containers.0.args') as readonly string[],
      env: {},
      envPrefix: 'PLIMSOLL',
      readFile: (path) => readFileSync(path, 'utf8'),
    });
    expect(loaded).toMatchObject({
      ok: true,
      value: {
        tls: { mode: 'cert-manager', certFile: `${folder}/tls.crt`, keyFile: `${folder}/tls.key` },
        registration: { mode: 'None' },
      },
    });
  });
}

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
