import { testSeed } from '#test/fakes/jitter.ts';
import { manifestAgreement } from './manifest-agreement.ts';

manifestAgreement(500, testSeed(process.env));
