import { afterAll, beforeAll, describe } from 'vitest';
import { customKind } from './custom-kind.ts';
import { noWayRound } from './no-way-round.ts';
import { startSandboxWebhook, type SandboxWebhook } from './sandbox-webhook.ts';

describe('a class that a user may not use, in the sandbox', () => {
  const found: { sandbox?: SandboxWebhook } = {};
  beforeAll(async () => {
    found.sandbox = await startSandboxWebhook();
  });
  afterAll(() => found.sandbox?.stop());

  const target = () => {
    if (found.sandbox === undefined) throw new Error('the sandbox is not up');
    return found.sandbox.target;
  };
  noWayRound(target);
  customKind(target);
});
