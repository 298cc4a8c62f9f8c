// A setup file of every suite: properties without a seed of their own draw the same cases in a second run of a failed
// file. fast-check prints the seed with each counterexample.
import fc from 'fast-check';
import { testSeed } from '#test/fakes/jitter.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed(process.env) });
