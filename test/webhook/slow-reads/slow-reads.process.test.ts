import { describe } from 'vitest';
import { sandboxSurface } from '#test/webhook/adversary/sandbox-surface.ts';
import { stage } from '#test/webhook/adversary/stage.ts';
import { slowConnection } from './slow-connection.ts';
import { slowReads } from './slow-reads.ts';

describe('the webhook and a slow API server, in the sandbox', () => {
  const { toApiServer, proxy } = slowConnection();
  slowReads(stage(sandboxSurface(toApiServer)), proxy);
});
