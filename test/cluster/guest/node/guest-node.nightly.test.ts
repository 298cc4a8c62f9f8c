import { describe } from 'vitest';
import { startNodeOf } from '#test/cluster/node/start/start-node-of.ts';
import { whyNoNode } from '#test/cluster/node/start/node-programs.ts';
import { nodeSuite } from '#test/cluster/node/node-suite.ts';
import { findGuestTools, whyNoGuest } from '#test/cluster/guest/image/find-guest-tools.ts';

const why = whyNoGuest(findGuestTools()) ?? whyNoNode(process.env);

describe.skipIf(why !== undefined)(`one real node with cgroup v2 and PSI${why ?? ''}`, () => {
  nodeSuite({ title: 'an emulated guest', patience: 5, measuresStalls: true, start: () => startNodeOf('guest') });
});
