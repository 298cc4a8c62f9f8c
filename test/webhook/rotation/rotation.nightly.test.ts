import { expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { prepareCluster } from '#test/webhook/bad-inputs/cluster.ts';
import { restartedReplicas } from './restarted-replicas.ts';
import { startLoad } from './review-load.ts';
import { openSteppedWebhook } from './stepped-webhook.ts';
import { volume } from '#test/build/volume.ts';
import { letTimePass } from '#test/build/waiting.ts';

const AUTHORITIES = volume(20);
const LEAVES_PER_AUTHORITY = 50;
const LEAVES = AUTHORITIES * LEAVES_PER_AUTHORITY;
const REQUESTS_PER_SECOND = 50;
const OVERLAP_SECONDS = 2;
/** An API server may act on what it read this long ago; well below the overlap, for this machine may be busy. */
const CALLERS_LAG_MS = 500;
const LEAF_EVERY_MS = 50;
/** Every bundle that was registered, so that a caller can act on one that it read a while ago. */
function bundleHistory(api: ApiDouble) {
  const bundles: { readonly pem: string; readonly since: number }[] = [];
  return {
    look: (): void => {
      const object = api.get('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', 'plimsoll');
      const [entry] = object?.['webhooks'] as { clientConfig: { caBundle: string } }[];
      const pem = Buffer.from(entry?.clientConfig.caBundle ?? '', 'base64').toString();
      if (bundles.at(-1)?.pem !== pem) bundles.push({ pem, since: performance.now() });
    },
    asOf: (time: number) => bundles.findLast(({ since }) => since <= time)?.pem ?? bundles[0]?.pem ?? '',
    bundles,
  };
}

test(
  `${LEAVES} leaves and ${AUTHORITIES} authorities under ${REQUESTS_PER_SECOND} requests/s: every review gets its answer`,
  async () => {
    const api = await apiDouble();
    prepareCluster(api);
    const client = createClient(directConnection({ server: api.url }), { userAgent: 'replicas' });
    const pace = { leavesPerAuthority: LEAVES_PER_AUTHORITY, overlapSeconds: OVERLAP_SECONDS };
    const { leaves, authorities, ...certificates } = restartedReplicas(client, pace);
    const webhook = await openSteppedWebhook(api, certificates);
    await webhook.look();
    const history = bundleHistory(api);
    history.look();
    const load = startLoad(webhook.port, REQUESTS_PER_SECOND, () => history.asOf(performance.now() - CALLERS_LAG_MS));
    while (leaves.size < LEAVES || authorities.size <= AUTHORITIES) {
      expect(leaves.size, `only ${authorities.size} authorities`).toBeLessThan(2 * LEAVES);
      await webhook.look();
      history.look();
      expect(webhook.problem()).toBeUndefined();
      await letTimePass(LEAF_EVERY_MS, 'load');
    }
    const answers = await load.stop();
    const rotations = await webhook.rotations();
    await webhook.close();
    client.close();
    await api.close();
    expect(
      answers.filter((answer) => answer !== undefined),
      webhook.logged.join(''),
    ).toEqual([]);
    expect(rotations).toBe(leaves.size - 1);
    // Each authority changes the bundle when it is announced; a promotion takes nothing out of it.
    expect(history.bundles.length).toBeGreaterThan(AUTHORITIES);
    expect(answers.length).toBeGreaterThan(LEAVES);
  },
  HOUR_MS,
);
