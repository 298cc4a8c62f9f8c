import { existsSync, globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readDockerfile } from '#test/cluster/node/image/dockerfile.ts';

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

describe('deploy/Dockerfile', () => {
  const dockerfile = readDockerfile(readFileSync(`${REPOSITORY}deploy/Dockerfile`, 'utf8'));

  test('copies what is there', () => {
    const missing = dockerfile.copies.filter(([source]) => !existsSync(`${REPOSITORY}${source}`));
    expect([dockerfile.copies.length > 0, missing]).toEqual([true, []]);
  });

  test('copies every folder that the code in it imports from', () => {
    const folders = dockerfile.copies.map(([source]) => source);
    const files = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: REPOSITORY }));
    const imported = files.flatMap((file) =>
      Array.from(readFileSync(`${REPOSITORY}${file}`, 'utf8').matchAll(/from '#([a-z]+)\//g), ([, folder]) => folder),
    );
    expect(imported.length).toBeGreaterThan(0);
    expect([...new Set(imported)].filter((folder) => !folders.includes(folder ?? ''))).toEqual([]);
  });

  test('makes the compile cache of each process as the user that reads it', () => {
    const ofProcesses = dockerfile.commands.filter(({ words }) => words.includes('--help'));
    const makers = ofProcesses.map(({ words, user }) => [words.find((word) => word.endsWith('main.ts')), user]);
    expect(Object.fromEntries(makers)).toEqual({
      'agent/main.ts': '61013:61013',
      'webhook/main.ts': '65532:65532',
      'scheduler/main.ts': '65532:65532',
    });
  });

  test('runs Node alone, as the user of the pods', () => {
    expect(dockerfile.user).toBe('65532:65532');
    expect(new Set(dockerfile.commands.map(({ words: [program] }) => program))).toEqual(new Set(['node']));
  });
});
