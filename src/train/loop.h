// The training loop: updates, rows, evaluations and checkpoints of one run, in a directory of its
// own.
#pragma once

#include "train/train_job.h"

namespace headroom {

// Runs the job to its end, to the end of its patience or until SIGINT, SIGTERM or SIGUSR1 or
// the time budget end it at the next step boundary with a checkpoint. Update s uses items 0 ..
// batch-1 of stream (data_seed, kTrain, s) at the curriculum's stage of s. After update s: a row of
// train.csv at each log_every and at the last step; an evaluation at step 0, each eval.every and
// the last step (none where eval.every or eval.items is 0); a checkpoint at a new best, each
// checkpoint_every (0: none) and at the end.
//
// Throws Error: kUsage for an impossible job or a used directory, before anything is written;
// kCorrupt for weights in init_from that do not fit; kFile with the path; kDiverged for a loss,
// gradient, parameter or held-out loss that is not finite. run.json and log.txt then hold the
// error's line, earlier checkpoints stand.
TrainResult train(const TrainJob& job);

}  // namespace headroom
