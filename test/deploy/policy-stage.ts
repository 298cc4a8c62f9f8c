import { beforeAll, expect } from 'vitest';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { asUser } from '#test/cluster/admission/support/as-user.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { runningApiServer } from '#test/sandbox/api-server/running-api-server.ts';

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const PLURALS: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  ValidatingAdmissionPolicyBinding: 'validatingadmissionpolicybindings',
};

/** Registers hooks of the present `describe`: a sandbox API server with our kinds, which enforces what is created. */
export function policyStage() {
  const server = runningApiServer();
  const connection = () => {
    const { url, token, caPem: ca } = server();
    return directConnection({ server: url, token, ca });
  };
  const user = (name?: string) => asUser(connection(), name);

  beforeAll(async () => {
    const client = createClient(connection(), { userAgent: 'test' });
    await installPlimsoll(client);
    client.close();
  });

  async function create(path: string, body: object): Promise<void> {
    const answer = await user()('POST', path, body);
    expect([path, answer.status, at(answer.body, 'message')]).toEqual([path, 201, undefined]);
  }

  /** A policy or a binding. */
  const enforce = (policy: object): Promise<void> =>
    create(`${ADMISSION}/${PLURALS[textAt(policy, 'kind')] ?? ''}`, policy);
  return { user, create, enforce };
}
