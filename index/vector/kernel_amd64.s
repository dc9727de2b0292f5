#include "textflag.h"

// 16 words of 1, to add pairs of words into doublewords.
DATA ones16<>+0(SB)/8, $0x0001000100010001
DATA ones16<>+8(SB)/8, $0x0001000100010001
DATA ones16<>+16(SB)/8, $0x0001000100010001
DATA ones16<>+24(SB)/8, $0x0001000100010001
GLOBL ones16<>(SB), RODATA|NOPTR, $32

// One block of 32 codes of one row: |q| * (row with the sign of q), pairs to words (at most 2*127*127 < 2^15).
#define CODES(row, tmp, sum) \
	VMOVDQU    (row), tmp     \
	VPSIGNB    Y8, tmp, tmp   \
	VPMADDUBSW tmp, Y9, tmp   \
	VPMADDWD   Y10, tmp, tmp  \
	VPADDD     tmp, sum, sum

#define FETCH(row) \
	PREFETCHT0 (row)     \
	PREFETCHT0 64(row)   \
	PREFETCHT0 128(row)  \
	PREFETCHT0 192(row)  \
	PREFETCHT0 256(row)  \
	PREFETCHT0 320(row)  \
	PREFETCHT0 384(row)

// func codeDots(out *float32, rows **int8, groups int, q *int8, blocks int, scale float32)
TEXT ·codeDots(SB), NOSPLIT, $0-44
	MOVQ out+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ q+24(FP), DX
	MOVQ blocks+32(FP), BX
	VBROADCASTSS scale+40(FP), X15
	VMOVDQU ones16<>(SB), Y10

group:
	MOVQ 0(SI), R8
	MOVQ 8(SI), R9
	MOVQ 16(SI), R10
	MOVQ 24(SI), R11
	ADDQ $32, SI
	CMPQ CX, $1
	JEQ  last
	MOVQ 0(SI), AX
	FETCH(AX)
	MOVQ 8(SI), AX
	FETCH(AX)
	MOVQ 16(SI), AX
	FETCH(AX)
	MOVQ 24(SI), AX
	FETCH(AX)

last:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ DX, R12
	MOVQ BX, R13

block:
	VMOVDQU (R12), Y8
	VPABSB  Y8, Y9
	CODES(R8, Y4, Y0)
	CODES(R9, Y5, Y1)
	CODES(R10, Y6, Y2)
	CODES(R11, Y7, Y3)
	ADDQ $32, R12
	ADDQ $32, R8
	ADDQ $32, R9
	ADDQ $32, R10
	ADDQ $32, R11
	DECQ R13
	JNZ  block

	VPHADDD Y1, Y0, Y0
	VPHADDD Y3, Y2, Y2
	VPHADDD Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VCVTDQ2PS X0, X0
	VMOVSS (R8), X4                 // the scales lie behind the codes
	VINSERTPS $0x10, (R9), X4, X4
	VINSERTPS $0x20, (R10), X4, X4
	VINSERTPS $0x30, (R11), X4, X4
	VMULPS X15, X4, X4
	VMULPS X4, X0, X0
	VMOVUPS X0, (DI)
	ADDQ $16, DI
	DECQ CX
	JNZ  group
	VZEROUPPER
	RET
