import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const STARTS = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const;

// The files of `quick` share processes, and a program would have to be waited for.
for (const start of STARTS) {
  childProcess[start] = (() => {
    throw new Error(`cannot start a program here: name the test file *.process.test.ts`);
  }) as never;
}
syncBuiltinESMExports();
