import { testSeed } from '#test/fakes/jitter.ts';
import { budgetAgreement } from './support/budget-agreement.ts';

budgetAgreement(40, testSeed(process.env));
