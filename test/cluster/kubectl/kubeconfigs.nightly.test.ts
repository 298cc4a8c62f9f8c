import { testSeed } from '#test/fakes/jitter.ts';
import { kubeconfigAgreement } from './kubeconfig-agreement.ts';

kubeconfigAgreement(300, testSeed(process.env));
