// SPDX-License-Identifier: Apache-2.0
//
// The worker's side: one process, one case after another, the timed loop entirely inside it. A
// thread of its own reads the requests, so that a running case can be cancelled; it sleeps while
// nothing comes.
#pragma once

namespace assay {

// `assay worker`: requests from stdin, replies to stdout, until stdin ends; then the process ends
// at once, even in the middle of a case: nobody is left to tell. What libraries print to stdout
// goes to stderr.
int worker_main();

}  // namespace assay
