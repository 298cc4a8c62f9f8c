import { describe, expect, test } from 'vitest';
import { withCluster } from '#cli/cluster/open-cluster.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { runPlimsoll } from '#test/cli/run-plimsoll.ts';
import { sandboxCluster } from '#test/cli/sandbox-cluster.ts';

const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

describe('--as and --as-group', () => {
  const cluster = sandboxCluster(() => Promise.resolve());
  const whoIs = (options: ClusterOptions) =>
    withCluster({ kubeconfig: cluster.kubeconfig, ...options }, ({ client }) =>
      client.request({ method: 'POST', path: REVIEWS, body: { kind: 'SelfSubjectReview' } }),
    );

  test('name the user and the groups that the API server sees', async () => {
    expect(await whoIs({ as: 'alice', asGroup: ['dev', 'ops'] })).toMatchObject({
      kind: 'ok',
      object: { status: { userInfo: { username: 'alice', groups: ['dev', 'ops', 'system:authenticated'] } } },
    });
    const { object } = (await whoIs({})) as { readonly object: object };
    expect(object).not.toMatchObject({ status: { userInfo: { username: 'alice' } } });
  });

  test('a group without a user is refused', async () => {
    const { code, stderr } = await runPlimsoll(['check', '--kubeconfig', cluster.kubeconfig, '--as-group', 'dev']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: "error: option '--as-group' needs '--as'\n" });
  });
});
