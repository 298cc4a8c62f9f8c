import { describe, expect, test } from 'vitest';
import { accountFindings } from '#cli/check/account-rights.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';

describe('accountFindings', () => {
  /** Answers access reviews, where these accounts of components are installed. */
  function authoriser(
    isAllowed: (spec: string) => boolean,
    installed: readonly string[] = [],
  ): Pick<KubeClient, 'request'> {
    return {
      request: ({ method, path, body }) => {
        const isThere = method !== 'GET' || installed.some((name) => path.endsWith(`/${name}`));
        if (!isThere) return Promise.resolve({ kind: 'notFound', message: 'not found' } as Outcome<unknown>);
        const status = { allowed: isAllowed(JSON.stringify(body ?? {})) };
        return Promise.resolve({ kind: 'ok', warnings: [], object: { metadata: { name: 'x' }, status } });
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

  test('every right of every account that is installed is looked for', async () => {
    const without =
      (...parts: readonly string[]) =>
      (spec: string) =>
        !parts.every((part) => spec.includes(part));
    const texts = async (client: Pick<KubeClient, 'request'>): Promise<readonly string[]> =>
      (await accountFindings(client)).map(({ text }) => text);
    const ofPolicies = without('"resource":"disruptionpolicies"', '"verb":"get"');
    expect(await texts(authoriser(ofPolicies))).toEqual([expect.stringMatching(/^service accounts have all \d+/)]);
    expect(await texts(authoriser(ofPolicies, ['plimsoll-disruptions']))).toEqual([
      'system:serviceaccount:plimsoll-system:plimsoll-disruptions may not get disruptionpolicies.plimsoll.dev',
    ]);
    const ofLease = without('"resource":"leases"', '"name":"plimsoll-queues"');
    expect(await accountFindings(authoriser(ofLease, ['plimsoll-queues']))).toMatchObject([
      { next: expect.stringContaining('get leases.coordination.k8s.io/plimsoll-queues -n plimsoll-system') as string },
      { next: expect.stringContaining('patch leases.coordination.k8s.io/plimsoll-queues -n') as string },
    ]);
  });

  test('the caller learns that it may not ask', async () => {
    const refused = { request: () => Promise.resolve({ kind: 'forbidden', message: 'no' } as Outcome<unknown>) };
    expect((await accountFindings(refused))[0]).toMatchObject({
      level: 'Warning',
      text: 'cannot check the rights of the accounts: no',
    });
  });
});
