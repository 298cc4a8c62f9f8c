import { describe, expect, test } from 'vitest';
import { accountFindings } from '#cli/check/account-rights.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';

describe('accountFindings', () => {
  /** Answers access reviews, where the controller with these variables, and these objects, are installed. */
  function authoriser(
    isAllowed: (spec: string) => boolean,
    variables: Readonly<Record<string, string>> = {},
    installed: readonly string[] = Object.keys(variables).length === 0 ? [] : ['plimsoll-controller'],
  ): Pick<KubeClient, 'request'> {
    return {
      request: ({ method, path, body }) => {
        const isThere = method !== 'GET' || installed.some((name) => path.endsWith(`/${name}`));
        if (!isThere) return Promise.resolve({ kind: 'notFound', message: 'not found' } as Outcome<unknown>);
        const status = { allowed: isAllowed(JSON.stringify(body ?? {})) };
        const env = Object.entries(variables).map(([name, value]) => ({ name, value }));
        const spec = { template: { spec: { containers: [{ env }] } } };
        return Promise.resolve({ kind: 'ok', warnings: [], object: { metadata: { name: 'x' }, status, spec } });
      },
    };
  }

  test('all rights are there', async () => {
    expect((await accountFindings(authoriser(() => true))).map(({ level }) => level)).toEqual(['OK']);
  });

  test('a right that is missing is named as kubectl auth can-i takes it', async () => {
    const found = await accountFindings(authoriser((spec) => !spec.includes('eviction')));
    expect(found).toEqual([
      {
        level: 'Error',
        subject: 'rights',
        text: 'system:serviceaccount:plimsoll-node:plimsoll-agent may not create pods/eviction',
        next:
          'kubectl auth can-i create pods --subresource=eviction -A ' +
          '--as=system:serviceaccount:plimsoll-node:plimsoll-agent; ' +
          'apply the manifests of this version again',
      },
    ]);
  });

  test('every right of every part that is on is looked for', async () => {
    const without =
      (...parts: readonly string[]) =>
      (spec: string) =>
        !parts.every((part) => spec.includes(part));
    const texts = async (client: Pick<KubeClient, 'request'>): Promise<readonly string[]> =>
      (await accountFindings(client)).map(({ text }) => text);
    const ofPolicies = without('"resource":"disruptionpolicies"', '"verb":"get"');
    expect(await texts(authoriser(ofPolicies))).toEqual([expect.stringMatching(/^service accounts have all \d+/)]);
    const off = { PLIMSOLL_DISRUPTIONS_RECORD: 'Off', PLIMSOLL_DASHBOARD__PORT: '' };
    expect(await texts(authoriser(ofPolicies, off))).toEqual([expect.stringMatching(/^service accounts have all \d+/)]);
    expect(await texts(authoriser(ofPolicies, { PLIMSOLL_DISRUPTIONS_RECORD: 'On' }))).toEqual([
      'system:serviceaccount:plimsoll-system:plimsoll-controller may not get disruptionpolicies.plimsoll.dev',
    ]);
    const ofLease = without('"resource":"leases"', '"name":"plimsoll-queues"');
    expect(await accountFindings(authoriser(ofLease, { PLIMSOLL_QUEUES_PASSES: 'On' }))).toMatchObject([
      {
        text: expect.stringMatching(
          /may not get leases\.coordination\.k8s\.io, list leases\.coordination\.k8s\.io, watch leases\.coordination\.k8s\.io, patch leases\.coordination\.k8s\.io$/,
        ) as string,
        next: expect.stringContaining('get leases.coordination.k8s.io/plimsoll-queues -n plimsoll-system') as string,
      },
    ]);
  });

  test('Deployments of an earlier version are named, because they still lead', async () => {
    const [finding] = await accountFindings(authoriser(() => true, {}, ['plimsoll-queues', 'plimsoll-dashboard']));
    expect(finding).toMatchObject({
      level: 'Warning',
      text: 'Deployments of an earlier version still lead their parts: plimsoll-queues, plimsoll-dashboard',
      next: expect.stringContaining('delete deployments plimsoll-queues plimsoll-dashboard') as string,
    });
  });

  test('an account without any right is one line, and names the first of what it lacks', async () => {
    const found = await accountFindings(authoriser(() => false));
    expect(found.map(({ text }) => text)).toEqual(
      ['system:plimsoll-webhook', 'node:plimsoll-agent'].map(
        (account) => expect.stringMatching(new RegExp(`${account} may not .* and \\d+ more rights$`)) as unknown,
      ),
    );
  });

  test('the caller learns that it may not ask', async () => {
    const refused = { request: () => Promise.resolve({ kind: 'forbidden', message: 'no' } as Outcome<unknown>) };
    expect((await accountFindings(refused))[0]).toMatchObject({
      level: 'Warning',
      text: 'cannot check the rights of the accounts: no',
    });
  });
});
