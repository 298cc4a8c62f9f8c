import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readDockerfile } from '#test/cluster/node/dockerfile.ts';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

describe('deploy/Dockerfile', () => {
  const dockerfile = readDockerfile(readFileSync(`${REPOSITORY}deploy/Dockerfile`, 'utf8'));

  test('copies what is there', () => {
    const missing = dockerfile.copies.filter(([source]) => !existsSync(`${REPOSITORY}${source}`));
    expect([dockerfile.copies.length > 0, missing]).toEqual([true, []]);
  });

  test('runs Node alone, as the user of the pods', () => {
    expect(dockerfile.user).toBe('65532:65532');
    expect(new Set(dockerfile.commands.map(([program]) => program))).toEqual(new Set(['node']));
  });
});
