import { manifestAgreement } from './manifest-agreement.ts';

manifestAgreement(40, 42);
