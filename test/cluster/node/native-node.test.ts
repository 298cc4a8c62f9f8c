import { describe } from 'vitest';
import { startNodeOf } from './start/start-node-of.ts';
import { whyNoNode } from './start/node-programs.ts';
import { nodeSuite } from './node-suite.ts';

const why = whyNoNode(process.env);

describe.skipIf(why !== undefined)(`one real node${why ?? ''}`, () => {
  nodeSuite({ title: 'this machine', patience: 1, measuresStalls: false, start: () => startNodeOf('native') });
});
